import Streams

/// Calls that follow one another, each seeing the result before.
///
/// ```swift
/// RequestChain { TestAPI.m }
///   .then { first in UserDetail(id: first.id) }
///   .run()
///   .subscribe(onNext: { first, user in … })
/// ```
/// A chain is a value: nothing starts before `run()` is subscribed, and each subscription runs it anew. No thread waits.
/// Disposing cancels the call in flight. The first failure ends the chain with the step's own error, which has the step's
/// `index`, counted from 0. A step that gives no endpoint ends the chain without an error.
public struct RequestChain<Results: Sendable, Last: Sendable>: Sendable {
  let network: Network?
  /// How many steps there are.
  let count: Int
  let start: @Sendable () -> Observable<(all: Results, last: Last)>

  /// The results of all steps, as a tuple, when the last one has succeeded; nothing, where a step said that there is no
  /// next request.
  public func run() -> Observable<Results> { Observable.deferred { start() }.map(\.all) }

  /// The chain with one more step, whose result `combine` adds.
  func adding<E: TypedEndpoint, All: Sendable>(
    _ options: StepOptions<E.Response>, _ next: @escaping @Sendable (Last) throws -> E?,
    _ combine: @escaping @Sendable (Results, E.Response) -> All
  ) -> RequestChain<All, E.Response> {
    let step = ChainStep(index: count, network: network, options: options)
    return RequestChain<All, E.Response>(network: network, count: count + 1) { [start] in
      start().flatMap { before in
        step.run { try next(before.last) }.map { (all: combine(before.all, $0), last: $0) }
      }
    }
  }
}

extension RequestChain where Results == Last {
  /// A chain that begins with what `first` gives.
  ///
  /// - Parameters:
  ///   - network: where steps go that name no other; `nil` is `Network.default`.
  ///   - options: what is special about this step.
  ///   - first: the endpoint to call; asked at each subscription, and what it throws is the step's failure.
  public init<E: TypedEndpoint>(
    on network: Network? = nil, _ options: StepOptions<Last> = StepOptions(),
    _ first: @escaping @Sendable () throws -> E?
  ) where E.Response == Last {
    let step = ChainStep(index: 0, network: network, options: options)
    self.init(network: network, count: 1) { step.run(first).map { (all: $0, last: $0) } }
  }
}

/// What may be special about a step of a chain; each has its own callbacks, called in order.
public struct StepOptions<Output: Sendable>: Sendable {
  /// The network to call; `nil` is the chain's.
  public var network: Network?
  /// An answer in place of the network's.
  public var stub: StubTransport.Answer?
  /// Hears how far the call is.
  public var progress: ProgressHandler?
  /// Gets the step's result before the next step is asked.
  public var onSuccess: (@Sendable (Output) -> Void)?
  /// Gets the step's own error; the chain's follows.
  public var onError: (@Sendable (NetworkError) -> Void)?

  /// Nothing special, where nothing is given.
  public init(
    on network: Network? = nil, stub: StubTransport.Answer? = nil, progress: ProgressHandler? = nil,
    onSuccess: (@Sendable (Output) -> Void)? = nil, onError: (@Sendable (NetworkError) -> Void)? = nil
  ) {
    self.network = network
    self.stub = stub
    self.progress = progress
    self.onSuccess = onSuccess
    self.onError = onError
  }
}

/// One call of a chain.
private struct ChainStep<Output: Sendable>: Sendable {
  var index: Int
  var network: Network?
  var options: StepOptions<Output>

  func run<E: TypedEndpoint>(
    _ make: @escaping @Sendable () throws -> E?
  ) -> Observable<Output> where E.Response == Output {
    Observable.deferred { [self] in
      guard let endpoint = try make() else { return .empty() }
      var network = options.network ?? network ?? .default
      if let stub = options.stub { network = network.with { $0.transport = StubTransport { _ in stub } } }
      return network.request(endpoint, progress: options.progress).asObservable()
    }
    .do(onNext: options.onSuccess, onError: { options.onError?(NetworkError.wrapping($0)) })
    .mapError { NetworkError.step(index, NetworkError.wrapping($0)) }
  }
}

extension NetworkError {
  /// The failure of step `index`: its cause, which says where it arose.
  static func step(_ index: Int, _ cause: NetworkError) -> NetworkError {
    var error = cause
    error.reason = "step \(index) failed: \(cause.reason)"
    error.index = index
    return error
  }
}
