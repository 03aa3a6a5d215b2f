import Streams

/// Calls the endpoints of one kind with completions instead of streams (article rows 2.11, 2.17, 2.21).
///
/// Every completion is called exactly once, on the back end's `delivery` or else `mapping` scheduler. Requests outlive
/// the router.
public final class Router<E: Endpoint>: Sendable {
  /// What it calls through.
  public let network: Network
  private let inFlight = InFlight()

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
    for flight in inFlight.all { flight.dispose() }
  }

  private func start<Model: Sendable>(
    _ single: Single<Model>, _ completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    let id = inFlight.next()
    let running = network.run(single) { [inFlight] (result: Result<Model, NetworkError>) in
      inFlight.remove(id)
      completion(result)
    }
    inFlight.insert(running, id)
    return running
  }
}

/// The requests without a result.
private final class InFlight: Sendable {
  private struct State {
    var last: UInt64 = 0
    var flights: [UInt64: RunningRequest] = [:]
    /// Those that had their result before they could be inserted.
    var over: Set<UInt64> = []
  }

  /// Callers and the streams' ends; requests are cancelled and released after.
  private let state = Locked(State())

  var all: [RunningRequest] { state.withLock { Array($0.flights.values) } }

  func next() -> UInt64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  func insert(_ flight: RunningRequest, _ id: UInt64) {
    state.withLock { state in
      if state.over.remove(id) == nil { state.flights[id] = flight }
    }
  }

  func remove(_ id: UInt64) {
    let removed = state.withLock { state -> RunningRequest? in
      let flight = state.flights.removeValue(forKey: id)
      if flight == nil { state.over.insert(id) }
      return flight
    }
    withExtendedLifetime(removed) {}  // released outside the lock
  }
}
