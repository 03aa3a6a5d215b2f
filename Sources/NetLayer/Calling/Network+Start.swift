import Dispatch
import PortableFoundation
import Streams

/// A started request in callback style.
public final class RunningRequest: Cancelable {
  private let subscription: any Cancelable

  init(_ subscription: any Cancelable) { self.subscription = subscription }

  /// Cancels the request, at any time and from any thread. Its completion receives an error of kind `cancelled`, unless
  /// it has already been called or is being called.
  public func cancel() { subscription.dispose() }

  /// Cancels the request, so that bags can hold it.
  public func dispose() { cancel() }

  /// Whether the request was cancelled.
  public var isDisposed: Bool { subscription.isDisposed }
}

extension Network {
  /// Sends `request` unchanged, then calls `completion` once with the response, if its status is a success, or with the
  /// error.
  ///
  /// The completion runs on the backend's `delivery` scheduler, or else on `mapping`. The backend applies its
  /// interceptors and adds nothing else to the request.
  @discardableResult
  public func start(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    run(response(request).delivering { try $0.validated() }, completion)
  }

  /// Calls `endpoint`, then calls `completion` once with its result or the error.
  @discardableResult
  public func start<E: Endpoint>(
    _ endpoint: E, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<E.Output, NetworkError>) -> Void
  ) -> RunningRequest {
    run(request(endpoint, progress: progress), completion)
  }

  /// Runs `single` and calls the completion exactly once.
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
  /// Sends the request through `network` and calls `completion` once.
  @discardableResult
  public func start(
    on network: Network = .default, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    network.start(self, completion: completion)
  }
}
