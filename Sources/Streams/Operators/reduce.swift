extension ObservableType {
  /// Emits the result of folding all elements into `seed`, on completion; what `accumulator` throws is the error.
  ///
  ///     source:       -1--2--3-|
  ///     reduce(0, +): ---------(6|)
  @inlinable
  public func reduce<Result: Sendable>(
    _ seed: Result, accumulator: @escaping @Sendable (Result, Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      let state = Cell(seed)
      let scope = LastScope(subscription) { try next(state.value) }
      source.run(scope) {
        do { state.value = try accumulator(state.value, $0) } catch { subscription.fail(error) }
      }
    })
  }
}
