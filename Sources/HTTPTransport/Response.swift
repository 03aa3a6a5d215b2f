import PortableFoundation

/// What a server answered, any status, with the whole body.
public struct Response: Sendable {
  /// The request that was sent.
  public var request: Request {
    get { box.fields.request }
    _modify {
      makeUnique()
      yield &box.fields.request
    }
  }
  /// The URL that answered: differs from the request's after redirects.
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
  /// The header fields, in order, duplicates kept.
  public var headers: HTTPHeaders {
    get { box.fields.headers }
    _modify {
      makeUnique()
      yield &box.fields.headers
    }
  }
  /// The body with its content coding removed.
  public var body: Data {
    get { box.fields.body }
    _modify {
      makeUnique()
      yield &box.fields.body
    }
  }
  /// The fields behind the body (RFC 9110 §6.5), of a chunked response or one over HTTP/2; empty with
  /// `URLSessionTransport`, which does not deliver them.
  public var trailers: HTTPHeaders {
    get { box.fields.trailers }
    _modify {
      makeUnique()
      yield &box.fields.trailers
    }
  }
  /// The file that has the body, where the request has a `destination` and the status was a success.
  public var file: URL? {
    get { box.fields.file }
    _modify {
      makeUnique()
      yield &box.fields.file
    }
  }
  /// The redirects that were followed, the oldest first; empty for none, and for what a cache answers.
  public var redirects: [Redirect] {
    get { box.fields.redirects }
    _modify {
      makeUnique()
      yield &box.fields.redirects
    }
  }
  /// What the exchange took; `nil` where the transport measures nothing.
  public var metrics: TransferMetrics? {
    get { box.fields.metrics }
    _modify {
      makeUnique()
      yield &box.fields.metrics
    }
  }
  /// What interceptors and other layers attach to it.
  public var context: Context {
    get { box.fields.context }
    // Beside the one below, as that allocates.
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

  private final class Box: @unchecked Sendable {  // safe: changed while one response alone holds it
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// Shared by copies until one of them is changed: a call copies its response many times.
  private var box: Box

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
  }

  /// A response, as a transport or a test makes it.
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
  /// Status, URL and size, without secrets.
  public var description: String { "\(status) \(Redaction.standard.url(url)) (\(body.count) bytes)" }
}
