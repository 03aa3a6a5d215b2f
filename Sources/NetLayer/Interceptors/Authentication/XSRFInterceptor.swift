import PortableFoundation
import Streams

/// An interceptor that repeats the value of a cookie in a header field, as servers require that protect themselves against
/// cross-site request forgery.
///
/// The default names are those of Laravel, Angular and Spring; Jupyter has `_xsrf` and `X-XSRFToken`. Requests with a
/// safe method (RFC 9110 §9.2.1), with the field, or without such a cookie are not changed. The value is
/// percent-decoded. Only requests to the hosts of the cookie carry the field.
public struct XSRFInterceptor: Interceptor {
  private let cookie: String
  private let header: String

  /// Creates an interceptor for the name of a cookie in the jar of the request, and the name of a field.
  public init(cookie: String = "XSRF-TOKEN", header: String = "X-XSRF-TOKEN") {
    (self.cookie, self.header) = (cookie, header)
  }

  /// Adds the field to `request`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard !request.method.isSafe, request.headers[header] == nil else { return next(request) }
    // At each subscription, because a retry may follow a new cookie.
    return Observable.deferred {
      guard let value = request.options.cookies?.value(of: cookie, for: request.url) else { return next(request) }
      let decoded = value.decodingPercent ?? value
      var copy = request
      copy.headers[header] = decoded.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? value : decoded
      copy.originBoundHeaders.append(header, copy.headers[header] ?? "")
      return next(copy)
    }
  }
}
