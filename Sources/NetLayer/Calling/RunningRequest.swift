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
