// One function per number of results. A single generic function needs parameter packs in closures, which crash the
// compiler of Swift 6.3.
extension RequestChain {
  /// Continues with the endpoint that `next` returns for the previous result. The results become a tuple of two, three,
  /// up to six elements.
  ///
  /// `next` returns the endpoint, or `nil` to complete the chain here. An error that it throws is the failure of this
  /// step.
  public func then<E: Endpoint>(
    _ options: StepOptions<E.Output> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(Last, E.Output), E.Output> where Results == Last {
    adding(options, next) { ($0, $1) }
  }

  /// Continues with the endpoint that `next` returns for the previous result.
  public func then<A: Sendable, E: Endpoint>(
    _ options: StepOptions<E.Output> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, Last, E.Output), E.Output> where Results == (A, Last) {
    adding(options, next) { ($0.0, $0.1, $1) }
  }

  /// Continues with the endpoint that `next` returns for the previous result.
  public func then<A: Sendable, B: Sendable, E: Endpoint>(
    _ options: StepOptions<E.Output> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, Last, E.Output), E.Output> where Results == (A, B, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $1) }
  }

  /// Continues with the endpoint that `next` returns for the previous result.
  public func then<A: Sendable, B: Sendable, C: Sendable, E: Endpoint>(
    _ options: StepOptions<E.Output> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, C, Last, E.Output), E.Output> where Results == (A, B, C, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $0.3, $1) }
  }

  /// Continues with the endpoint that `next` returns for the previous result.
  public func then<A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Endpoint>(
    _ options: StepOptions<E.Output> = StepOptions(), _ next: @escaping @Sendable (Last) throws -> E?
  ) -> RequestChain<(A, B, C, D, Last, E.Output), E.Output> where Results == (A, B, C, D, Last) {
    adding(options, next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
  }
}
