import Dispatch
import PortableFoundation
import Streams

/// A request in callback style that has been started (article rows 0.13, 2.11).
public final class RunningRequest: Cancelable {
  private let flight: any Cancelable

  init(_ flight: any Cancelable) { self.flight = flight }

  /// Cancels the request, at any time and from any thread; its completion gets an error of kind `cancelled`, unless it has
  /// been called or is just being called.
  public func cancel() { flight.dispose() }

  /// The same as `cancel`, so that bags can hold it.
  public func dispose() { cancel() }

  /// Whether it was cancelled.
  public var isDisposed: Bool { flight.isDisposed }
}

extension Network {
  /// Sends `request` as it is and calls `completion` once with the answer, if its status is a success, or the error
  /// (article row 0.13).
  ///
  /// The completion is called on the back end's `delivery` or else `mapping` scheduler. Nothing of the back end's is added
  /// to the request but its interceptors.
  @discardableResult
  public func start(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    run(send(request).asObservable().delivering { try $0.validated() }.asSingle(), completion)
  }

  /// Calls `endpoint` and calls `completion` once with the answer, if its status is a success, or the error.
  @discardableResult
  public func start(
    _ endpoint: some Endpoint, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    let answer: Single<Response> = request(endpoint, progress: progress)
    return run(answer.asObservable().delivering { try $0.validated() }.asSingle(), completion)
  }

  /// Calls `endpoint` and calls `completion` once with the result whose type it names, or the error (article row 2.21).
  @discardableResult
  public func start<E: TypedEndpoint>(
    _ endpoint: E, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<E.Response, NetworkError>) -> Void
  ) -> RunningRequest {
    run(request(endpoint, progress: progress), completion)
  }

  /// Runs `single` for one completion, which is always called, once.
  func run<Model: Sendable>(
    _ single: Single<Model>, _ completion: @escaping @Sendable (Result<Model, NetworkError>) -> Void
  ) -> RunningRequest {
    let scheduler = backend.delivery ?? backend.mapping
    let reading = reading
    let isOver = Flag()
    let finish: @Sendable (Result<Model, NetworkError>) -> Void = { if isOver.raise() { completion($0) } }
    let running = single.subscribe(
      onSuccess: { finish(.success($0)) }, onError: { finish(.failure(NetworkError.wrapping($0))) })
    return RunningRequest(
      Disposables.create {
        running.dispose()
        guard isOver.raise() else { return }
        _ = scheduler.schedule { completion(.failure(reading.error(.cancelled, "the request was cancelled"))) }
      })
  }
}

extension Request {
  /// Sends the request through `network` and calls `completion` once (article row 0.13).
  @discardableResult
  public func start(
    on network: Network = .default, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    network.start(self, completion: completion)
  }
}
