import PortableFoundation

/// A request in its final form: what a transport puts on the wire (article row 0.13).
public struct Request: Sendable {
  /// The content of a request.
  public enum Body: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// The content of a file, read while it is sent.
    case file(URL)
    /// Pieces one after the other, as a multipart body has them; files among them are read while they are sent.
    case parts([Part])
    /// Chunks that are made while they are sent.
    case stream(BodyStream)

    /// A piece of a body.
    public enum Part: Sendable {
      /// Bytes in memory.
      case data(Data)
      /// The content of a file.
      case file(URL)
    }
  }

  /// Time limits in seconds; fractions are allowed and 0 disables a limit. For an endless stream, set `total` to 0 and
  /// `idle` above the longest expected gap between bytes. A negative value or NaN fails the request with
  /// `invalidRequest`.
  public struct Timeouts: Sendable, Hashable {
    /// Until the connection stands, name lookup and TLS included; waiting for one to be free does not count.
    public var connect: Double
    /// The longest silence on an open connection; noticed up to a quarter later where the request has a body.
    public var idle: Double
    /// From the start to the last byte, waiting for a connection and redirects included.
    public var total: Double
    /// From the subscription to the result, retries, their pauses, refreshes of tokens and all other waiting included,
    /// where `total` is for one attempt; for a streamed response, to its head.
    public var call: Double

    /// 15 s to connect, 15 s of silence, 60 s in all: the values of article row 1.10; no limit over the whole call.
    public init(connect: Double = 15, idle: Double = 15, total: Double = 60, call: Double = 0) {
      self.connect = connect
      self.idle = idle
      self.total = total
      self.call = call
    }
  }

  /// The method.
  public var method: HTTPMethod {
    get { box.fields.method }
    _modify {
      makeUnique()
      yield &box.fields.method
    }
  }
  /// The absolute `http` or `https` URL, query included.
  public var url: URL {
    get { box.fields.url }
    _modify {
      makeUnique()
      yield &box.fields.url
    }
  }
  /// The header fields as they are sent.
  public var headers: HTTPHeaders {
    get { box.fields.headers }
    _modify {
      makeUnique()
      yield &box.fields.headers
    }
  }
  /// The body.
  public var body: Body {
    get { box.fields.body }
    _modify {
      makeUnique()
      yield &box.fields.body
    }
  }
  /// The time limits.
  public var timeouts: Timeouts {
    get { box.fields.timeouts }
    _modify {
      makeUnique()
      yield &box.fields.timeouts
    }
  }
  /// The file that the body of a successful answer goes to instead of memory; `nil` for memory.
  ///
  /// The file appears, in place of one that is there, when the whole body has arrived (article row 0.12). It may
  /// be of any size: the transports' limits are for what is kept in memory. `Network` writes it; a transport does with
  /// `Transport.download(_:to:progress:completion:)`.
  public var destination: URL? {
    get { box.fields.destination }
    _modify {
      makeUnique()
      yield &box.fields.destination
    }
  }
  /// What interceptors and other layers attach to it; none of it is sent.
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
  /// What `options` holds; `nil` for the defaults.
  package var chosenOptions: OptionsBox? {
    get { box.fields.chosenOptions }
    set {
      makeUnique()
      box.fields.chosenOptions = newValue
    }
    _modify {
      makeUnique()
      yield &box.fields.chosenOptions
    }
  }

  private struct Fields {
    var method: HTTPMethod
    var url: URL
    var headers: HTTPHeaders
    var body: Body
    var timeouts: Timeouts
    var destination: URL?
    var context: Context = Context()
    var chosenOptions: OptionsBox?
  }

  private final class Box: @unchecked Sendable {  // safe: changed while one request alone holds it
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// Shared by copies until one of them is changed: a call copies its request many times.
  private var box: Box

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
  }

  /// A request as it goes to the transport; nothing is added to it.
  public init(
    method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: Body = .none, timeouts: Timeouts = Timeouts()
  ) {
    box = Box(Fields(method: method, url: url, headers: headers, body: body, timeouts: timeouts))
  }
}

extension Request: CustomStringConvertible {
  /// Method and URL, without secrets.
  public var description: String { "\(method) \(Redaction.standard.url(url))\(attemptNote)" }

  /// Says which attempt it is, but for the first.
  package var attemptNote: String {
    let attempt = context[Attempt.self]
    return attempt > 1 ? " (attempt \(attempt))" : ""
  }
}
