import Hummingbird

/// The failure of a request, as the client receives it.
///
/// ```json
/// {"error":{"code":"upstream_unavailable","upstream":"authors","message":"…"}}
/// ```
package struct GatewayError: HTTPResponseError {
  package let status: HTTPResponse.Status
  private let body: Body
  private let retryAfter: String?

  private struct Body: ResponseEncodable {
    let error: Reason
  }

  private struct Reason: Encodable {
    let code: String
    let upstream: String
    let message: String
  }

  private init(
    _ status: HTTPResponse.Status, _ code: String, _ upstream: String, _ message: String, retryAfter: String? = nil
  ) {
    self.status = status
    self.retryAfter = retryAfter
    body = Body(error: Reason(code: code, upstream: upstream, message: message))
  }

  /// The service has no such resource.
  package static func notFound(in upstream: String) -> GatewayError {
    GatewayError(.notFound, "not_found", upstream, "The service \(upstream) has no such resource.")
  }

  /// The deadline passed before the service responded.
  package static func timeout(of upstream: String) -> GatewayError {
    GatewayError(.gatewayTimeout, "upstream_timeout", upstream, "The service \(upstream) did not respond in time.")
  }

  /// The service is overloaded and requests a pause.
  package static func overload(of upstream: String, retryAfter: Duration?) -> GatewayError {
    GatewayError(
      .serviceUnavailable, "upstream_overloaded", upstream, "The service \(upstream) accepts no requests now.",
      retryAfter: retryAfter.map { "\(max(1, Int(($0 / .seconds(1)).rounded(.up))))" })
  }

  /// The service could not be reached, or its response is not valid.
  package static func failure(of upstream: String) -> GatewayError {
    GatewayError(.badGateway, "upstream_unavailable", upstream, "The service \(upstream) has no valid response.")
  }

  package func response(from request: Request, context: some RequestContext) throws -> Response {
    var response = try body.response(from: request, context: context)
    response.status = status
    response.headers[.retryAfter] = retryAfter
    return response
  }
}
