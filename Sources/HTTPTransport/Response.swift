import PortableFoundation

/// The response of a server, with any status and the complete body.
public struct Response: Sendable {
  /// The request that was sent.
  public var request: Request {
    get { fields.value.request }
    set { fields.value.request = newValue }
    _modify { yield &fields.value.request }
  }
  package var requestContext: Context { fields.value.request.context }
  /// The URL of the response, which differs from the request's after redirects.
  public var url: URL {
    get { fields.value.url }
    set { fields.value.url = newValue }
  }
  /// The HTTP status code.
  public var status: Int {
    get { fields.value.status }
    set { fields.value.status = newValue }
  }
  /// The header fields in order, duplicates included.
  public var headers: HTTPHeaders {
    get { fields.value.headers }
    set { fields.value.headers = newValue }
    _modify { yield &fields.value.headers }
  }
  /// The body, with its content coding removed.
  public var body: Data {
    get { fields.value.body }
    set { fields.value.body = newValue }
    _modify { yield &fields.value.body }
  }
  /// The trailer fields (RFC 9110 §6.5) of a chunked response or an HTTP/2 response. Always empty with
  /// `URLSessionTransport`, which does not deliver them, and in a response from the cache, which does not store them.
  public var trailers: HTTPHeaders {
    get { fields.value.trailers }
    set { fields.value.trailers = newValue }
    _modify { yield &fields.value.trailers }
  }
  /// The file with the body, if the request has a `destination` and the status is 200 to 299.
  public var file: URL? {
    get { fields.value.file }
    set { fields.value.file = newValue }
  }
  /// The redirects that were followed, the oldest first. Empty for a cached response.
  public var redirects: [Redirect] {
    get { fields.value.redirects }
    set { fields.value.redirects = newValue }
    _modify { yield &fields.value.redirects }
  }
  /// The measurements of the transfer; `nil` if the transport does not measure transfers.
  public var metrics: TransferMetrics? {
    get { fields.value.metrics }
    set { fields.value.metrics = newValue }
  }
  /// The values that interceptors and other layers attach to the response.
  public var context: Context {
    get { fields.value.context }
    set { fields.value.context = newValue }
  }

  // `_modify` allocates, so it is only for values whose parts are changed in place, and not for assignments.
  private struct Fields {
    var request: Request
    var url: URL
    var status: Int
    var headers: HTTPHeaders
    var body: Data
    var trailers: HTTPHeaders = HTTPHeaders()
    var file: URL?
    var redirects: [Redirect]
    var metrics: TransferMetrics?
    var context: Context
  }

  private var fields: CopyOnWrite<Fields>

  /// Creates a response, for transports and tests.
  public init(
    request: Request, url: URL? = nil, status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(),
    metrics: TransferMetrics? = nil, redirects: [Redirect] = []
  ) {
    fields = CopyOnWrite(
      Fields(
        request: request, url: url ?? request.url, status: status, headers: headers, body: body, redirects: redirects,
        metrics: metrics, context: Context()))
  }

  /// Creates a response with the values of `context`.
  package init(
    request: Request, url: URL?, status: Int, headers: HTTPHeaders, body: Data, context: Context
  ) {
    fields = CopyOnWrite(
      Fields(
        request: request, url: url ?? request.url, status: status, headers: headers, body: body, redirects: [],
        context: context))
  }
}

extension Response {
  /// Whether the status is 200 to 299 (RFC 9110 §15.3).
  public var isSuccess: Bool { (200...299).contains(status) }
}

extension Response: CustomStringConvertible {
  /// The status, URL and size of the body, without secrets.
  public var description: String {
    "\(status) \(Redaction.standard.redacted(url)) (\(body.count) bytes)".escapingControls()
  }
}

extension Response {
  /// A redirect that was followed before the final response.
  public struct Redirect: Sendable, Equatable {
    /// The URL that responded with the redirect.
    public var url: URL
    /// The status of that response: 301, 302, 303, 307 or 308.
    public var status: Int
    /// The header fields of that response, including `Location`.
    public var headers: HTTPHeaders

    /// Creates a redirect, for transports and tests.
    public init(url: URL, status: Int, headers: HTTPHeaders = [:]) {
      self.url = url
      self.status = status
      self.headers = headers
    }
  }
}
