extension ObservableType {
  /// Emits the non-`nil` results of `transform`; an error that it throws fails the stream (contract, law 7).
  ///
  ///     source:          -1--x--3-|
  ///     compactMap(Int): -1-----3-|
  @inlinable
  public func compactMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result?
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      source.run(subscription) { if let result = try transform($0) { try next(result) } }
    })
  }
}
