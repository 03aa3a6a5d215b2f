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

/// A scope that emits something of its own before it passes completion on.
@usableFromInline
final class LastScope: Scope, @unchecked Sendable {  // safe: the closure is taken by the one thread that ends the scope
  private var last: (@Sendable () throws -> Void)?

  @usableFromInline
  init(_ downstream: Subscription, _ last: @escaping @Sendable () throws -> Void) {
    self.last = last
    super.init(downstream)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    if let error { return downstream.fail(error) }
    do {
      try last?()
      downstream.complete()
    } catch {
      downstream.fail(error)
    }
  }

  @usableFromInline
  override func released() { last = nil }
}
