import PortableFoundation
import Streams

/// Tells what happens to requests: for metrics (article row 3.16).
public struct EventMonitor: Interceptor {
  /// What happened to a request.
  public enum Event: Sendable {
    /// It goes out.
    case started(Request)
    /// It was answered, whatever the status, after `seconds`.
    /// What the transport measured of it is in `response.metrics`.
    case answered(Response, seconds: Double)
    /// It failed, after `seconds`.
    /// What the transport had measured by then is in the error's `metrics`.
    case failed(Request, NetworkError, seconds: Double)
    /// The caller gave it up, after `seconds`.
    case cancelled(Request, seconds: Double)
    /// The transport is done with it, and this is what it took: before `answered` and `failed`, behind `cancelled`, and for
    /// a stream at the end of its body. Once for each exchange: not for what a cache answers, again for each repetition, and
    /// for the first alone of those that share one.
    case measured(Request, TransferMetrics)
  }

  private let clock: any SchedulerType
  private let handler: @Sendable (Event) -> Void

  /// A monitor; `handler` is called where the events arise and must not block, `clock` is what times are taken from.
  public init(
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    handler: @escaping @Sendable (Event) -> Void
  ) {
    self.clock = clock
    self.handler = handler
  }

  /// Tells of `request`, and of what comes of it.
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
          handler(.answered(response, seconds: seconds()))
        },
        onError: { error in
          isOver.withLock { $0 = true }
          handler(.failed(request, NetworkError.wrapping(error), seconds: seconds()))
        },
        onDispose: { if !isOver.withLock({ $0 }) { handler(.cancelled(request, seconds: seconds())) } })
    }
  }
}

/// What hears what the transport measured of each exchange of a request, however it ended.
enum MetricsHandler: ContextKey {
  static let defaultValue: (@Sendable (TransferMetrics) -> Void)? = nil
}
