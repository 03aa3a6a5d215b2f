import Streams

/// An interceptor that sends the caller's trace in the fields `traceparent` and `tracestate` (W3C Trace Context, level
/// 1).
///
/// Every request that passes through the interceptor is a new span of the caller's trace, which is read where a call
/// begins: its retries, pages, reconnections and chunks continue it. Place it after ``RetryInterceptor`` to make each attempt a separate span, and after
/// ``CoalescingInterceptor``, which does not share responses between requests with different fields. A request that
/// already has a `traceparent` is not changed.
public struct TraceInterceptor: Interceptor {
  private let current: @Sendable () -> TraceContext?

  /// Creates an interceptor that continues the trace that `current` returns, or sends no trace if it returns `nil`.
  ///
  /// - Parameter current: A closure that is called once per call, on the subscribing thread. By default, it returns the
  ///   task's ``TraceContext/current``.
  public init(_ current: @escaping @Sendable () -> TraceContext? = { TraceContext.current }) {
    self.current = current
  }

  /// Records the caller's trace in the request for all attempts.
  public func captureContext(into request: inout Request) {
    guard let trace = current() else { return }
    request.trace = trace
  }

  /// Sends `request` as a new span.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard let trace = request.trace, request.headers["traceparent"] == nil else {
      return next(request)
    }
    var request = request
    let span = trace.child()
    request.trace = span
    request.headers["traceparent"] = span.traceparent
    if !span.state.isEmpty { request.headers["tracestate"] = span.state }
    return next(request)
  }
}
