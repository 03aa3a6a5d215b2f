extension ObservableType {
  /// Emits each intermediate result of accumulating the elements into `seed`; an error thrown by `accumulator` fails
  /// the stream.
  ///
  ///     source:     -1--2--3-|
  ///     scan(0, +): -1--3--6-|
  @inlinable
  public func scan<Result: Sendable>(
    _ seed: Result, accumulator: @escaping @Sendable (Result, Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      let state = Cell(seed)
      source.run(subscription) {
        state.value = try accumulator(state.value, $0)
        try next(state.value)
      }
    })
  }

  /// Emits each intermediate result of accumulating the elements into `seed` in place; an error thrown by `accumulator`
  /// fails the stream.
  ///
  /// Use this overload for collections, to avoid a copy for each element.
  @inlinable
  public func scan<Result: Sendable>(
    into seed: Result, accumulator: @escaping @Sendable (inout Result, Element) throws -> Void
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      let state = Cell(seed)
      source.run(subscription) {
        try accumulator(&state.value, $0)
        try next(state.value)
      }
    })
  }
}
