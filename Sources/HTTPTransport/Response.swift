import PortableFoundation

/// The response of a server, with any status and the complete body.
public struct Response: Sendable {
  /// The request that was sent.
  public var request: Request {
    get { box.fields.request }
    _modify {
      makeUnique()
      yield &box.fields.request
    }
  }
  /// The URL of the response, which differs from the request's after redirects.
  public var url: URL {
    get { box.fields.url }
    _modify {
      makeUnique()
      yield &box.fields.url
    }
  }
  /// The HTTP status code.
  public var status: Int {
    get { box.fields.status }
    _modify {
      makeUnique()
      yield &box.fields.status
    }
  }
  /// The header fields in order, duplicates included.
  public var headers: HTTPHeaders {
    get { box.fields.headers }
    _modify {
      makeUnique()
      yield &box.fields.headers
    }
  }
  /// The body, with its content coding removed.
  public var body: Data {
    get { box.fields.body }
    _modify {
      makeUnique()
      yield &box.fields.body
    }
  }
  /// The trailer fields (RFC 9110 §6.5) of a chunked response or an HTTP/2 response. Always empty with
  /// `URLSessionTransport`, which does not deliver them.
  public var trailers: HTTPHeaders {
    get { box.fields.trailers }
    _modify {
      makeUnique()
      yield &box.fields.trailers
    }
  }
  /// The file with the body, if the request has a `destination` and the status is a success.
  public var file: URL? {
    get { box.fields.file }
    _modify {
      makeUnique()
      yield &box.fields.file
    }
  }
  /// The redirects that were followed, the oldest first. Empty for a cached response.
  public var redirects: [Redirect] {
    get { box.fields.redirects }
    _modify {
      makeUnique()
      yield &box.fields.redirects
    }
  }
  /// The measurements of the transfer; `nil` if the transport does not measure.
  public var metrics: TransferMetrics? {
    get { box.fields.metrics }
    _modify {
      makeUnique()
      yield &box.fields.metrics
    }
  }
  /// The values that interceptors and other layers attach to the response.
  public var context: Context {
    get { box.fields.context }
    // A setter in addition to `_modify`, which allocates.
    set {
      makeUnique()
      box.fields.context = newValue
    }
    _modify {
      makeUnique()
      yield &box.fields.context
    }
  }

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
    var context: Context = Context()
  }

  private final class Box: @unchecked Sendable {  // safe: changed only while a single response refers to it
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// Copies share the box until one of them is changed, because a call copies its response many times.
  private var box: Box

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
  }

  /// Creates a response, for transports and tests.
  public init(
    request: Request, url: URL? = nil, status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(),
    metrics: TransferMetrics? = nil, redirects: [Redirect] = []
  ) {
    box = Box(
      Fields(
        request: request, url: url ?? request.url, status: status, headers: headers, body: body, redirects: redirects,
        metrics: metrics))
  }
}

extension Response {
  /// Whether the status is a success, 200 to 299 (RFC 9110 §15.3).
  public var isSuccess: Bool { (200...299).contains(status) }
}

extension Response: CustomStringConvertible {
  /// The status, URL and size of the body, without secrets.
  public var description: String { "\(status) \(Redaction.standard.url(url)) (\(body.count) bytes)" }
}
