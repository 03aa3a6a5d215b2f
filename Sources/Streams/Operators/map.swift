extension ObservableType {
  /// Emits what `transform` makes of each element; what it throws becomes the stream's error (law 7).
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
