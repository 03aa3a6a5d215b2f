import Foundation
import HTTPTransport
import HTTPTypes

extension Request {
  /// Creates a request with the method, URL and header fields of an `HTTPRequest`.
  ///
  /// - Parameters:
  ///   - request: The request, whose scheme, authority and path form the URL.
  ///   - body: The body; empty by default.
  /// - Throws: `NetworkError` of kind `invalidRequest` if they do not form a valid URL.
  public init(_ request: HTTPRequest, body: Request.Body = .none) throws(NetworkError) {
    let path = request.path ?? "/"
    let text = "\(request.scheme ?? "https")://\(request.authority ?? "")\(path)"
    // Without a slash, the path would continue the host.
    guard request.authority?.isEmpty == false, path.isEmpty || path.hasPrefix("/"), let url = URL(string: text) else {
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "the HTTPRequest has no valid URL: \(text); give it a scheme, an authority and a percent-encoded path that "
          + "begins with a slash"
      )
    }
    self.init(
      method: HTTPMethod(rawValue: request.method.rawValue), url: url, headers: HTTPHeaders(request.headerFields),
      body: body)
  }
}

extension HTTPRequest {
  /// Creates a request with the method, URL and header fields of `request`, without its body.
  ///
  /// Returns `nil` if the method is not a token (RFC 9110 §9.1) or the URL has no scheme or host.
  public init?(_ request: Request) {
    guard let method = HTTPRequest.Method(request.method.rawValue),
      let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme, let host = parts.percentEncodedHost, !host.isEmpty
    else { return nil }
    let path = (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
    self.init(
      method: method, scheme: scheme, authority: parts.port.map { "\(host):\($0)" } ?? host,
      path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path, headerFields: HTTPFields(request.headers))
  }
}

extension HTTPResponse {
  /// Creates a response with the status and header fields of `response`, without its body.
  public init(_ response: Response) {
    self.init(status: .init(code: response.status), headerFields: HTTPFields(response.headers))
  }
}
