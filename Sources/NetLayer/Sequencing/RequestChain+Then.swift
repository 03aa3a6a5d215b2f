// One function per number of results: a generic one would need parameter packs in closures, which Swift 6.3's compiler
// does not survive.
extension RequestChain {
  /// Goes on with the endpoint that `next` makes of the result before; the results are then a tuple of two, three, up to
  /// six.
  ///
  /// - Parameters:
  ///   - options: what is special about this step: its network, stub and callbacks.
  ///   - next: gives the endpoint, or `nil` to end the chain here without an error; what it throws is this step's failure.
  public func then<E: TypedEndpoint>(
    _ options: StepOptions<E.Response> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(Last, E.Response), E.Response> where Results == Last {
    adding(options, next) { ($0, $1) }
  }

  /// Goes on with the endpoint that `next` makes of the result before.
  public func then<A: Sendable, E: TypedEndpoint>(
    _ options: StepOptions<E.Response> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, Last, E.Response), E.Response> where Results == (A, Last) {
    adding(options, next) { ($0.0, $0.1, $1) }
  }

  /// Goes on with the endpoint that `next` makes of the result before.
  public func then<A: Sendable, B: Sendable, E: TypedEndpoint>(
    _ options: StepOptions<E.Response> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, Last, E.Response), E.Response> where Results == (A, B, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $1) }
  }

  /// Goes on with the endpoint that `next` makes of the result before.
  public func then<A: Sendable, B: Sendable, C: Sendable, E: TypedEndpoint>(
    _ options: StepOptions<E.Response> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, C, Last, E.Response), E.Response> where Results == (A, B, C, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $0.3, $1) }
  }

  /// Goes on with the endpoint that `next` makes of the result before.
  public func then<A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: TypedEndpoint>(
    _ options: StepOptions<E.Response> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, C, D, Last, E.Response), E.Response> where Results == (A, B, C, D, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
  }
}
