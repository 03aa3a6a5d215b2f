import Streams

/// A client of one endpoint type that uses completions instead of streams.
///
/// Each completion is called exactly once, on the backend's `delivery` scheduler or else on `mapping`. Requests outlive
/// the router.
public final class Router<E: Endpoint>: Sendable {
  /// The network that the router calls.
  public let network: Network
  /// The requests in flight. `cancel` replaces them and cancels them outside the lock.
  private let inFlight = Locked(CompositeDisposable())

  /// Creates a router on `network`.
  public init(_ network: Network = .default) { self.network = network }

  /// Calls `endpoint` and passes its result, or the error, to `completion`.
  ///
  /// - Returns: The running request. Cancelling it calls `completion` with an error of kind `cancelled`.
  @discardableResult
  public func request(
    _ endpoint: E, completion: @escaping @Sendable (Result<E.Output, NetworkError>) -> Void
  ) -> RunningRequest {
    start(network.request(endpoint), completion)
  }

  /// Calls `endpoint` and passes the response of any status, or the error, to `completion`.
  ///
  /// - Returns: As for `request`.
  @discardableResult
  public func response(
    _ endpoint: E, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    start(network.response(to: CallContent(endpoint)).delivering { $0 }, completion)
  }

  /// Calls `endpoint` and passes a model of the payload, or the error, to `completion`.
  ///
  /// - Returns: The running request. Cancelling it calls `completion` with an error of kind `cancelled`.
  @_disfavoredOverload
  @discardableResult
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type, completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    start(network.request(endpoint, as: type), completion)
  }

  /// Calls `endpoint` and passes text, bytes, JSON or another readable result, or the error, to `completion`.
  ///
  /// - Returns: As for a model.
  @discardableResult
  public func request<Value: ResponseReadable>(
    _ endpoint: E, as type: Value.Type, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
  ) -> RunningRequest {
    start(network.request(endpoint, as: type), completion)
  }

  /// Cancels every request without a result. Their completions receive errors of kind `cancelled`.
  public func cancel() {
    inFlight.withLock { exchange(&$0, with: CompositeDisposable()) }.dispose()
  }

  private func start<Model: Sendable>(
    _ single: Single<Model>, _ completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    // Inserted before the request starts, because the result may arrive immediately.
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
