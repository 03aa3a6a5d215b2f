import GatewayServer
import NetLayer

/// An interceptor that tells the upstream how much time remains for the call, at each attempt.
///
/// A call that shares the request of another call shares its deadline there, too.
struct DeadlineInterceptor: Interceptor {
  /// The end of the call. The limit of a call counts from its start, and a retry starts later.
  private enum End: ContextKey {
    static let defaultValue: ContinuousClock.Instant? = nil
  }

  func captureContext(into request: inout Request) {
    request.context[End.self] = request.timeouts.call.map { .now + $0 }
  }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard let end = request.context[End.self] else { return next(request) }
    var request = request
    request.headers[Deadline.header] = "\(Deadline.milliseconds(end - .now))"
    return next(request)
  }
}
