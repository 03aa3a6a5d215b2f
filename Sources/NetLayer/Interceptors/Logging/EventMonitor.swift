import PortableFoundation
import Streams

/// An interceptor that reports the events of requests, for metrics.
///
/// Each request ends with exactly one of `received`, `failed` and `cancelled`. Place it before a `CacheInterceptor` to
/// also count cache hits. A cached response that the server's response follows is not reported.
public struct EventMonitor: CallObserver {
  /// An event of a request.
  public struct Event: Sendable {
    /// The kind of an event. A struct, so that a new kind does not break the `switch` statements of users.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
      private enum Known { case started, received, failed, cancelled, measured }

      private let known: Known

      /// The name of the kind.
      public var description: String { "\(known)" }

      /// The request starts.
      public static let started = Kind(known: .started)
      /// The response arrived, regardless of its status.
      public static let received = Kind(known: .received)
      /// The request failed.
      public static let failed = Kind(known: .failed)
      /// The caller cancelled the request.
      public static let cancelled = Kind(known: .cancelled)
      /// The transport has finished the request: before `received` and `failed`, after `cancelled`, and at the end of a
      /// streamed body.
      ///
      /// The event occurs once per request that is sent: not for a cache hit, again for each retry, and only for the
      /// first of several coalesced requests. It is reported to the monitors among the interceptors of the backend.
      public static let measured = Kind(known: .measured)
    }

    /// The kind of the event.
    public let kind: Kind
    /// The request of the event; for a response, the request as it was sent.
    public let request: Request
    /// The response of `received`; otherwise `nil`.
    public private(set) var response: Response?
    /// The error of `failed`; otherwise `nil`.
    public private(set) var error: NetworkError?
    /// The time from the start to `received`, `failed` or `cancelled`; otherwise `nil`.
    public private(set) var duration: Duration?
    /// The transport's metrics of `measured`, `received` and `failed`, as far as they are known.
    public private(set) var metrics: TransferMetrics?
    /// The number of requests that the call had sent before, as far as it is known.
    let resendCount: Int

    private init(
      kind: Kind, request: Request, response: Response? = nil, error: NetworkError? = nil, duration: Duration? = nil,
      metrics: TransferMetrics? = nil
    ) {
      (self.kind, self.request, self.response, self.error) = (kind, request, response, error)
      (self.duration, self.metrics) = (duration, metrics)
      resendCount =
        response?.resends ?? error?.resends
        ?? request.resends(redirects: metrics?.redirects ?? 0, isNext: kind == .started) ?? request.attempt - 1
    }

    /// Creates the event of a request that starts.
    public static func started(_ request: Request) -> Event { Event(kind: .started, request: request) }
    /// Creates the event of a response that arrived after `duration`.
    public static func received(_ response: Response, after duration: Duration) -> Event {
      Event(
        kind: .received, request: response.request, response: response, duration: duration, metrics: response.metrics)
    }
    /// Creates the event of a request that failed after `duration`.
    public static func failed(_ request: Request, _ error: NetworkError, after duration: Duration) -> Event {
      Event(kind: .failed, request: request, error: error, duration: duration, metrics: error.metrics)
    }
    /// Creates the event of a request that the caller cancelled after `duration`.
    public static func cancelled(_ request: Request, after duration: Duration) -> Event {
      Event(kind: .cancelled, request: request, duration: duration)
    }
    /// Creates the event of a request that the transport has finished with these metrics.
    public static func measured(_ request: Request, _ metrics: TransferMetrics) -> Event {
      Event(kind: .measured, request: request, metrics: metrics)
    }
  }

  private let handler: @Sendable (Event) -> Void

  private struct End {
    var isReported = false
    /// The cached response that the server's response follows.
    var provisional: Response?
  }

  /// Creates a monitor. `handler` is called on the thread where the event occurs and must not block.
  public init(handler: @escaping @Sendable (Event) -> Void) {
    self.handler = handler
  }

  /// Reports the events of `request`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let (clock, handler) = (next.clock, handler)
    return Observable.deferred {
      let start = clock.uptime
      // Guards the end, which the first of the receiver and a cancellation reports.
      let end = Locked(End())
      @Sendable func duration() -> Duration { clock.uptime - start }
      @Sendable func isFirst() -> Bool { end.withLock { !exchange(&$0.isReported, with: true) } }
      handler(.started(request))
      return next(request).do(
        onNext: { response in
          if response.cached?.isProvisional == true { return end.withLock { $0.provisional = response } }
          _ = isFirst()
          handler(.received(response, after: duration()))
        },
        onError: { error in
          _ = isFirst()
          handler(.failed(request, NetworkError.wrapping(error), after: duration()))
        },
        onCompleted: {
          // The server's response was equal, and not emitted.
          guard let response = end.withLock({ $0.provisional }), isFirst() else { return }
          handler(.received(response, after: duration()))
        },
        onDispose: { if isFirst() { handler(.cancelled(request, after: duration())) } })
    }
  }

  /// Reports the metrics of each request that the transport has finished.
  public func observe(_ event: CallEvent) {
    guard event.kind == .finished, let metrics = event.response?.metrics ?? event.error?.metrics else { return }
    handler(.measured(event.request, metrics))
  }
}
