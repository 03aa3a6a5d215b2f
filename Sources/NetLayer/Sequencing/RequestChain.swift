import Streams

/// A sequence of calls, each of which receives the previous result.
///
/// ```swift
/// RequestChain { TestAPI.m }
///   .then { first in UserDetail(id: first.id) }
///   .run()
///   .subscribe(onNext: { first, user in show(user.name) })
/// ```
/// Nothing starts until `run()` is subscribed, and each subscription runs the chain again. Disposing cancels the call
/// in flight. The first failure fails the chain with the step's own error, whose `index` is the position of the step,
/// from 0.
public struct RequestChain<Results: Sendable, Last: Sendable>: Sendable {
  let network: Network?
  let count: Int
  let start: @Sendable () -> Observable<(all: Results, last: Last)>

  /// Emits the results of all steps, as a tuple, when the last one has succeeded. Completes without results if a step
  /// returns no endpoint.
  public func run() -> Observable<Results> { Observable.deferred { start() }.map(\.all) }

  /// Returns the chain with one more step, whose result `combine` adds.
  func adding<E: Endpoint, All: Sendable>(
    _ options: StepOptions<E.Output>, _ next: @escaping @Sendable (Last) throws -> E?,
    _ combine: @escaping @Sendable (Results, E.Output) -> All
  ) -> RequestChain<All, E.Output> {
    let step = ChainStep(index: count, network: network, options: options)
    return RequestChain<All, E.Output>(network: network, count: count + 1) { [start] in
      start().flatMap { before in
        step.run { try next(before.last) }.map { (all: combine(before.all, $0), last: $0) }
      }
    }
  }
}

extension RequestChain where Results == Last {
  /// Creates a chain that starts with the endpoint that `first` returns.
  ///
  /// `network` is that of steps that don't specify one; `nil` for `Network.default`.
  public init<E: Endpoint>(
    on network: Network? = nil, _ options: StepOptions<Last> = StepOptions(),
    _ first: @escaping @Sendable () throws -> E?
  ) where E.Output == Last {
    let step = ChainStep(index: 0, network: network, options: options)
    self.init(network: network, count: 1) { step.run(first).map { (all: $0, last: $0) } }
  }
}

/// The options of one step of a chain. The callbacks of the steps are called in order.
public struct StepOptions<Output: Sendable>: Sendable {
  /// The network to call; `nil` for the chain's network.
  public var network: Network?
  /// The transport of this step; `nil` for the transport of the network. A test passes a stub.
  public var transport: (any Transport)?
  /// A closure that receives the progress of the call.
  public var progress: ProgressHandler?
  /// A closure that receives the step's result before the next step starts.
  public var onSuccess: (@Sendable (Output) -> Void)?
  /// A closure that receives the step's own error, before the chain fails.
  public var onError: (@Sendable (NetworkError) -> Void)?

  /// Creates options; the defaults change nothing.
  public init(
    on network: Network? = nil, transport: (any Transport)? = nil, progress: ProgressHandler? = nil,
    onSuccess: (@Sendable (Output) -> Void)? = nil, onError: (@Sendable (NetworkError) -> Void)? = nil
  ) {
    self.network = network
    self.transport = transport
    self.progress = progress
    self.onSuccess = onSuccess
    self.onError = onError
  }
}

private struct ChainStep<Output: Sendable>: Sendable {
  var index: Int
  var network: Network?
  var options: StepOptions<Output>

  func run<E: Endpoint>(
    _ make: @escaping @Sendable () throws -> E?
  ) -> Observable<Output> where E.Output == Output {
    Observable.deferred { [self] in
      guard let endpoint = try make() else { return .empty() }
      var network = options.network ?? network ?? .default
      if let transport = options.transport { network = network.with { $0.transport = transport } }
      return network.request(endpoint, progress: options.progress).asObservable()
    }
    .do(onNext: options.onSuccess, onError: { options.onError?(NetworkError.wrapping($0)) })
    .mapError { NetworkError.step(index, NetworkError.wrapping($0)) }
  }
}

extension NetworkError {
  /// Returns the failure of step `index`: its cause with the number of the step.
  static func step(_ index: Int, _ cause: NetworkError) -> NetworkError {
    var error = cause
    error.reason = "step \(index) failed: \(cause.reason)"
    error.index = index
    return error
  }
}
