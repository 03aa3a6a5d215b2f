extension ObservableType {
  /// Emits, on completion, the result of accumulating all elements into `seed`; an error thrown by `accumulator` fails
  /// the stream.
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
