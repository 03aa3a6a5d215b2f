import PortableFoundation
import Streams

/// An interceptor that reports the events of requests, for metrics.
public struct EventMonitor: Interceptor {
  /// An event of a request.
  public enum Event: Sendable {
    /// The request starts.
    case started(Request)
    /// The response arrived after `seconds`, regardless of its status. The transport's metrics are in
    /// `response.metrics`.
    case received(Response, seconds: Double)
    /// The request failed after `seconds`. The transport's metrics so far are in the error's `metrics`.
    case failed(Request, NetworkError, seconds: Double)
    /// The caller cancelled the request after `seconds`.
    case cancelled(Request, seconds: Double)
    /// The transport has finished the request with these metrics: before `received` and `failed`, after `cancelled`,
    /// and at the end of a streamed body.
    ///
    /// The event occurs once per request that is sent: not for a cache hit, again for each retry, and only for the
    /// first of several coalesced requests.
    case measured(Request, TransferMetrics)
  }

  private let clock: any SchedulerType
  private let handler: @Sendable (Event) -> Void

  /// Creates a monitor. `handler` is called on the thread where the event occurs and must not block; `clock` measures
  /// the times.
  public init(
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    handler: @escaping @Sendable (Event) -> Void
  ) {
    self.clock = clock
    self.handler = handler
  }

  /// Reports the events of `request`.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    let (clock, handler) = (clock, handler)
    return Observable.deferred {
      let start = clock.now
      let isOver = Locked(false)
      @Sendable func seconds() -> Double { clock.now.timeIntervalSince(start) }
      handler(.started(request))
      var sent = request
      let outer = request.context[MetricsHandler.self]
      sent.context[MetricsHandler.self] = { metrics in
        outer?(metrics)
        handler(.measured(request, metrics))
      }
      return next(sent).do(
        onNext: { response in
          isOver.withLock { $0 = true }
          handler(.received(response, seconds: seconds()))
        },
        onError: { error in
          isOver.withLock { $0 = true }
          handler(.failed(request, NetworkError.wrapping(error), seconds: seconds()))
        },
        onDispose: { if !isOver.withLock({ $0 }) { handler(.cancelled(request, seconds: seconds())) } })
    }
  }
}

/// The receiver of the transport's metrics for each sent request, however it ended.
enum MetricsHandler: ContextKey {
  static let defaultValue: (@Sendable (TransferMetrics) -> Void)? = nil
}
