import PortableFoundation

extension LoopbackServer {
  /// What the server does with a request: an answer, its pace, and how it ends.
  public struct Response: Sendable {
    /// Bytes and how long to wait before they are sent.
    public struct Chunk: Sendable {
      /// Seconds to wait after the chunk before, fractions count.
      public var delay: Double
      /// The bytes.
      public var bytes: [UInt8]

      /// `bytes`, sent `delay` seconds after what went before.
      public init(_ bytes: [UInt8], after delay: Double = 0) {
        self.delay = delay
        self.bytes = bytes
      }

      /// The UTF-8 of `text`, sent `delay` seconds after what went before.
      public init(_ text: String, after delay: Double = 0) { self.init(Array(text.utf8), after: delay) }
    }

    /// How the content goes over the wire.
    public enum Body: Sendable {
      /// All at once, with a Content-Length.
      case bytes([UInt8])
      /// With the chunked transfer coding (RFC 9112 §7.1), one chunk after the other.
      case chunked([Chunk])
      /// With the chunked transfer coding, `first` and then the same chunk over and over until the client goes away.
      case endless(first: [UInt8], Chunk)
      /// With a Content-Length of `promised`, of which only `chunks` are sent.
      case promised(Int, [Chunk])
      /// Exactly these bytes, head included; status and headers are ignored.
      case raw([Chunk])
    }

    /// What happens to the connection behind the last byte.
    public enum Ending: Sendable {
      /// It serves the next request, unless the client asked for `Connection: close`.
      case keepAlive
      /// It is closed in order.
      case close
      /// It is reset: the client sees ECONNRESET.
      case reset
      /// Nothing more happens until the client gives up.
      case hang
    }

    /// The status code.
    public var status: Int
    /// The header fields, in order; framing fields are added by the server.
    public var headers: [(name: String, value: String)]
    /// The content.
    public var body: Body
    /// Seconds to wait before the first byte; other connections go on.
    public var delay: Double
    /// What happens behind the last byte.
    public var ending: Ending
    /// Opens a WebSocket instead, if the request asks for one; else the response is 426.
    public var socket: SocketScript?

    /// An answer; by default empty, at once, on a connection that is kept.
    public init(
      status: Int = 200, headers: [(name: String, value: String)] = [], body: Body = .bytes([]), delay: Double = 0,
      ending: Ending = .keepAlive
    ) {
      self.status = status
      self.headers = headers
      self.body = body
      self.delay = delay
      self.ending = ending
    }

    /// The same answer, sent `seconds` later; other connections go on.
    public func delayed(by seconds: Double) -> Response {
      var copy = self
      copy.delay += seconds
      return copy
    }

    /// The same answer with one more header field.
    public func header(_ name: String, _ value: String) -> Response {
      var copy = self
      copy.headers.append((name, value))
      return copy
    }
  }
}

extension LoopbackServer.Response {
  /// JSON text.
  public static func json(_ text: String, status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", "application/json")], body: .bytes(Array(text.utf8)))
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
  }

  /// Bytes of `type`.
  public static func bytes(_ bytes: [UInt8], type: String = "application/octet-stream", status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", type)], body: .bytes(bytes))
  }

  /// A status without content.
  public static func status(_ status: Int) -> Self { Self(status: status) }

  /// A redirect to `location`, written into the Location field as it is.
  public static func redirect(to location: String, status: Int = 302) -> Self {
    Self(status: status, headers: [("Location", location)])
  }

  /// Content in the chunked transfer coding, each chunk after its own delay.
  public static func stream(_ chunks: [Chunk], type: String = "application/octet-stream") -> Self {
    Self(headers: [("Content-Type", type)], body: .chunked(chunks))
  }

  /// Fault: content without end, `chunk` over and over, each after its delay.
  public static func endless(_ chunk: Chunk) -> Self { Self(body: .endless(first: [], chunk)) }

  /// Content of known length, one byte every `interval` seconds.
  public static func drip(_ bytes: [UInt8], every interval: Double) -> Self {
    Self(body: .promised(bytes.count, bytes.map { Chunk([$0], after: interval) }))
  }

  /// Fault: closes the connection instead of answering.
  public static var closeBeforeHead: Self { Self(body: .raw([]), ending: .close) }

  /// Fault: resets the connection instead of answering.
  public static var resetBeforeHead: Self { Self(body: .raw([]), ending: .reset) }

  /// Fault: promises `promised` bytes, sends `sent` of them, then resets the connection.
  public static func resetMidBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .reset)
  }

  /// Fault: promises `promised` bytes, sends `sent` of them, then closes the connection in order.
  public static func truncatedBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .close)
  }

  /// Fault: promises `promised` bytes, sends `sent` of them, then nothing any more.
  public static func stalledBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .hang)
  }

  /// Fault: takes the request and never answers.
  public static var neverResponding: Self { Self(body: .raw([]), ending: .hang) }
}
