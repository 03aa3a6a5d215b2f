import Streams

/// Sends the caller's trace with each request, in the fields `traceparent` and `tracestate` (W3C Trace Context, level 1).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [RetryInterceptor(), TraceInterceptor()])
/// ```
/// Every request that passes the interceptor is a new span of the caller's trace. Placed behind ``RetryInterceptor``, each
/// attempt has a span of its own, and all attempts have the same trace: the trace is read once per call, on the caller's
/// task. A redirect belongs to the span of its request. `response.request.context[TraceContext.self]` is the span that was
/// sent. A request that already has a `traceparent` is not changed.
///
/// Place it behind ``CoalescingInterceptor``, which shares no exchange between requests of different fields.
public struct TraceInterceptor: Interceptor {
  private let current: @Sendable () -> TraceContext?

  /// An interceptor that continues the trace that `current` returns, and sends nothing where that is `nil`.
  ///
  /// - Parameter current: is called once per call, on the subscribing thread; the task's ``TraceContext/current`` by default.
  ///   Return `TraceContext.current ?? TraceContext()` to begin a trace for calls without one.
  public init(_ current: @escaping @Sendable () -> TraceContext? = { TraceContext.current }) {
    self.current = current
  }

  /// Notes the caller's trace on the request, where all attempts find it.
  public func prepare(_ request: inout Request) {
    guard let trace = current() else { return }
    request.context[TraceContext.self] = trace
  }

  /// Sends `request` as a new span.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    guard let trace = request.context[TraceContext.self], request.headers["traceparent"] == nil else {
      return next(request)
    }
    var request = request
    let span = trace.child()
    request.context[TraceContext.self] = span
    request.headers["traceparent"] = span.traceparent
    if !span.state.isEmpty { request.headers["tracestate"] = span.state }
    return next(request)
  }
}
