import Foundation

/// What a server answered, any status, with the whole body.
public struct Response: Sendable {
  /// The request that was sent.
  public var request: Request
  /// The URL that answered: differs from the request's after redirects.
  public var url: URL
  /// The HTTP status code.
  public var status: Int
  /// The header fields, in order, duplicates kept.
  public var headers: HTTPHeaders
  /// The body with its content coding removed.
  public var body: Data
  /// The fields behind the body (RFC 9110 §6.5), of a chunked response or one over HTTP/2; empty with
  /// `URLSessionTransport`, which does not deliver them.
  public var trailers = HTTPHeaders()
  /// The file that has the body, where the request has a `destination` and the status was a success.
  public var file: URL?
  /// The redirects that were followed, the oldest first; empty for none, and for what a cache answers.
  public var redirects: [Redirect]
  /// What the exchange took; `nil` where the transport measures nothing.
  public var metrics: TransferMetrics?
  /// What interceptors and other layers attach to it.
  public var context = Context()

  /// A response, as a transport or a test makes it.
  public init(
    request: Request, url: URL? = nil, status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(),
    metrics: TransferMetrics? = nil, redirects: [Redirect] = []
  ) {
    self.request = request
    self.url = url ?? request.url
    self.status = status
    self.headers = headers
    self.body = body
    self.metrics = metrics
    self.redirects = redirects
  }
}

extension Response {
  /// Whether the status is a success, 200 to 299 (RFC 9110 §15.3).
  public var isSuccess: Bool { (200...299).contains(status) }
}

extension Response: CustomStringConvertible {
  /// Status, URL and size, without secrets.
  public var description: String { "\(status) \(Redaction.standard.url(url)) (\(body.count) bytes)" }
}
