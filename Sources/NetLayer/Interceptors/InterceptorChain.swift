import Streams

/// The rest of the chain after an interceptor: the next interceptors and, finally, the transport.
public struct InterceptorChain: Sendable {
  /// The destination of the transport's events.
  enum Delivery {
    /// The mapping queue, on which the receiver is called.
    case mapping
    /// A task that awaits the response. The receiver is called on the transport's thread, so it must only resume the task.
    case task
  }

  let network: Network
  let progress: ProgressHandler?
  let delivery: Delivery
  /// The index of the next interceptor.
  private let place: Int

  /// Creates the whole chain of `network`, for one call.
  init(network: Network, progress: ProgressHandler?, delivery: Delivery) {
    self.init(network, progress, delivery, 0)
  }

  private init(
    _ network: Network, _ progress: ProgressHandler?, _ delivery: Delivery, _ place: Int
  ) {
    (self.network, self.progress, self.delivery, self.place) = (network, progress, delivery, place)
  }

  /// Sends `request` to the rest of the chain at each subscription; two subscriptions send it twice.
  public func callAsFunction(_ request: Request) -> Observable<Response> {
    network.interceptors[place].intercept(request, next: InterceptorChain(network, progress, delivery, place + 1))
  }

  /// Returns the account with which the rest of the chain will authenticate `request`, or `nil` for none.
  func account(of request: Request) -> String? { network.interceptors[place...].account(of: request) }

  /// The backend's clock, with which an interceptor measures times and schedules delays.
  public var clock: any SchedulerType { network.backend.clock }

  /// The scheduler on which an interceptor emits its own responses.
  var mapping: any ImmediateSchedulerType { network.backend.mapping }
}
