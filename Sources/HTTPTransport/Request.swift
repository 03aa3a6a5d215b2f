import Foundation

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
  public var method: HTTPMethod
  /// The absolute `http` or `https` URL, query included.
  public var url: URL
  /// The header fields as they are sent.
  public var headers: HTTPHeaders
  /// The body.
  public var body: Body
  /// The time limits.
  public var timeouts: Timeouts
  /// The file that the body of a successful answer goes to instead of memory; `nil` for memory.
  ///
  /// The file appears, in place of one that is there, when the whole body has arrived (article row 0.12). It may
  /// be of any size: the transports' limits are for what is kept in memory. `Network` writes it; a transport does with
  /// `Transport.download(_:to:progress:completion:)`.
  public var destination: URL?
  /// What interceptors and other layers attach to it; none of it is sent.
  public var context = Context()
  /// What `options` holds; `nil` for the defaults.
  package var chosenOptions: OptionsBox?

  /// A request as it goes to the transport; nothing is added to it.
  public init(
    method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: Body = .none, timeouts: Timeouts = Timeouts()
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeouts = timeouts
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
