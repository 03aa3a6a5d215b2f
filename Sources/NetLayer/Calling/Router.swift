import Streams

/// Calls the endpoints of one kind with completions instead of streams (article rows 2.11, 2.17, 2.21).
///
/// Every completion is called exactly once, on the back end's `delivery` or else `mapping` scheduler. Requests outlive
/// the router.
public final class Router<E: Endpoint>: Sendable {
  /// What it calls through.
  public let network: Network
  /// The requests without a result; replaced by `cancel`. The members are cancelled outside.
  private let inFlight = Locked(CompositeDisposable())

  /// A router on `network`.
  public init(_ network: Network = .default) { self.network = network }

  /// Calls `endpoint`; `completion` gets the answer if its status is a success, else the error.
  ///
  /// - Returns: the request, which can be cancelled; its completion then gets an error of kind `cancelled`.
  @discardableResult
  public func request(
    _ endpoint: E, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    start(
      (network.request(endpoint) as Single<Response>).asObservable().delivering { try $0.validated() }.asSingle(),
      completion)
  }

  /// Calls `endpoint`; `completion` gets a model of the whole body, or the error.
  ///
  /// - Returns: the request, which can be cancelled; its completion then gets an error of kind `cancelled`.
  @discardableResult
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type, completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    start(network.request(endpoint, as: type), completion)
  }

  /// Calls `endpoint`; `completion` gets the result whose type it names, or the error.
  ///
  /// - Returns: the request, which can be cancelled; its completion then gets an error of kind `cancelled`.
  @discardableResult
  public func request(
    _ endpoint: E, completion: @escaping @Sendable (Result<E.Response, NetworkError>) -> Void
  ) -> RunningRequest where E: TypedEndpoint {
    start(network.request(endpoint), completion)
  }

  /// Cancels every request that has no result yet; their completions get errors of kind `cancelled`.
  public func cancel() {
    let former = inFlight.withLock { inFlight in
      defer { inFlight = CompositeDisposable() }
      return inFlight
    }
    former.dispose()
  }

  private func start<Model: Sendable>(
    _ single: Single<Model>, _ completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    // There before the request, whose result may come at once.
    let slot = SingleAssignmentDisposable()
    let inFlight = inFlight.withLock { $0 }
    let key = inFlight.insert(slot)
    let running = network.run(single) { (result: Result<Model, NetworkError>) in
      if let key { inFlight.remove(for: key) }
      completion(result)
    }
    slot.setDisposable(running)
    return running
  }
}
