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
  /// - Returns: a disposable that cancels this request; its completion then gets an error of kind `cancelled`.
  @discardableResult
  public func request(
    _ endpoint: E, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    start(network.request(endpoint).asObservable().delivering { try $0.validated() }.asSingle(), completion)
  }

  /// Calls `endpoint`; `completion` gets a model of the whole body, or the error.
  ///
  /// - Returns: a disposable that cancels this request; its completion then gets an error of kind `cancelled`.
  @discardableResult
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type, completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> any Disposable {
    start(network.request(endpoint, as: type), completion)
  }

  /// Cancels every request that has no result yet; their completions get errors of kind `cancelled`.
  public func cancel() {
    for flight in inFlight.all { flight.dispose() }
  }

  private func start<Model: Sendable>(
    _ single: Single<Model>, _ completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> any Disposable {
    let scheduler = network.backend.delivery ?? network.backend.mapping
    let rules = network.rules
    let subscription = SingleAssignmentDisposable()
    let finish = Once(completion)
    let flight = Disposables.create {
      subscription.dispose()
      guard let finish = finish.take() else { return }
      let error = NetworkError(kind: .cancelled, reason: "the request was cancelled").ruled(by: rules)
      _ = scheduler.schedule { finish(.failure(error)) }
    }
    let id = inFlight.insert(flight)
    let running = single.subscribe(
      onSuccess: { [inFlight] model in
        inFlight.remove(id)
        finish.take()?(.success(model))
      },
      onError: { [inFlight] error in
        inFlight.remove(id)
        finish.take()?(.failure(NetworkError.wrapping(error)))
      },
      onDisposed: { [inFlight] in inFlight.remove(id) })
    subscription.setDisposable(running)
    return flight
  }
}

/// A closure that can be taken once.
private final class Once<Argument>: Sendable {
  private let stored: Locked<(@Sendable (Argument) -> Void)?>

  init(_ closure: @escaping @Sendable (Argument) -> Void) { stored = Locked(closure) }

  func take() -> (@Sendable (Argument) -> Void)? {
    stored.withLock { stored in
      defer { stored = nil }
      return stored
    }
  }
}

/// The requests without a result.
private final class InFlight: Sendable {
  private let flights = Locked<(next: UInt64, byID: [UInt64: any Disposable])>((0, [:]))

  var all: [any Disposable] { flights.withLock { Array($0.byID.values) } }

  func insert(_ flight: any Disposable) -> UInt64 {
    flights.withLock { flights in
      flights.next += 1
      flights.byID[flights.next] = flight
      return flights.next
    }
  }

  func remove(_ id: UInt64) { flights.withLock { _ = $0.byID.removeValue(forKey: id) } }
}
