extension ObservableType {
  /// Emits the result of `transform` for each element; an error that it throws fails the stream (contract, law 7).
  ///
  ///     source:   -1--2--3-|
  ///     map(×10): -A--B--C-|    A = 10, B = 20, C = 30
  @inlinable
  public func map<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      source.run(subscription) { try next(transform($0)) }
    })
  }
}
