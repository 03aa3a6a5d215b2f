import PortableFoundation

extension TestServer {
  /// A response from the server: its content and delays, and what happens to the connection.
  public struct Response: Sendable {
    /// Bytes, and the time to wait before they are sent.
    public struct Chunk: Sendable {
      /// The time in seconds to wait after the previous chunk; fractions are allowed.
      public var delay: Double
      /// The bytes.
      public var bytes: [UInt8]

      /// Creates a chunk that is sent `delay` seconds after the previous one.
      public init(_ bytes: [UInt8], after delay: Double = 0) {
        self.delay = delay
        self.bytes = bytes
      }

      /// Creates a chunk of the UTF-8 of `text` that is sent `delay` seconds after the previous one.
      public init(_ text: String, after delay: Double = 0) { self.init(Array(text.utf8), after: delay) }
    }

    /// The framing of the body.
    public enum Body: Sendable {
      /// All bytes together, with a Content-Length.
      case bytes([UInt8])
      /// Chunks with the chunked transfer coding (RFC 9112 §7.1).
      case chunked([Chunk])
      /// Chunks with the chunked transfer coding: `first`, then the same chunk repeatedly until the client disconnects.
      case endless(first: [UInt8], Chunk)
      /// Chunks with the chunked transfer coding, from a closure that the server's thread calls immediately and then every
      /// `every` seconds, at least 0.001, as long as the client reads. An empty array sends nothing; `nil` ends the body.
      case pulled(every: Double, @Sendable () -> [UInt8]?)
      /// Chunks with a Content-Length of `promised`, which may differ from their total length.
      case promised(Int, [Chunk])
      /// Exactly these bytes, including the head. Status and headers are ignored.
      case raw([Chunk])
    }

    /// The state of the connection after the last byte.
    public enum Ending: Sendable {
      /// The connection is kept for further requests, unless the client sent `Connection: close`.
      case keepAlive
      /// The connection is closed gracefully.
      case close
      /// The connection is reset: the client receives ECONNRESET.
      case reset
      /// The connection stays open without further data, until the client closes it.
      case hang
    }

    /// The status code.
    public var status: Int
    /// The header fields, in order. The server adds framing fields.
    public var headers: [(name: String, value: String)]
    /// The content.
    public var body: Body
    /// The time in seconds to wait before the first byte. Other connections are not delayed.
    public var delay: Double
    /// The state of the connection after the last byte.
    public var ending: Ending
    /// The script of a WebSocket to open instead of sending the body. A request that does not ask for a WebSocket
    /// receives status 426.
    public var socket: WebSocketScript?

    /// Creates a response. By default, it is empty and immediate, and the connection is kept open.
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

    /// Returns the response with an additional delay in seconds. Other connections are not delayed.
    public func delayed(by seconds: Double) -> Response {
      var copy = self
      copy.delay += seconds
      return copy
    }

    /// Returns the response with an additional header field.
    public func header(_ name: String, _ value: String) -> Response {
      var copy = self
      copy.headers.append((name, value))
      return copy
    }
  }
}

extension TestServer.Response {
  /// Returns a response with JSON.
  public static func json(_ text: String, status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", "application/json")], body: .bytes(Array(text.utf8)))
  }

  /// Returns a response with plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
  }

  /// Returns a response with bytes of a media type.
  public static func bytes(_ bytes: [UInt8], type: String = "application/octet-stream", status: Int = 200) -> Self {
    Self(status: status, headers: [("Content-Type", type)], body: .bytes(bytes))
  }

  /// Returns a response without content.
  public static func status(_ status: Int) -> Self { Self(status: status) }

  /// Returns a redirect to `location`, which is written to the Location field unchanged.
  public static func redirect(to location: String, status: Int = 302) -> Self {
    Self(status: status, headers: [("Location", location)])
  }

  /// Returns a response with the chunked transfer coding, where each chunk has its own delay.
  public static func stream(_ chunks: [Chunk], type: String = "application/octet-stream") -> Self {
    Self(headers: [("Content-Type", type)], body: .chunked(chunks))
  }

  /// Returns a fault: an endless body that repeats `chunk`, each time after its delay.
  public static func endless(_ chunk: Chunk) -> Self { Self(body: .endless(first: [], chunk)) }

  /// Returns a response with a Content-Length, and one byte every `interval` seconds.
  public static func drip(_ bytes: [UInt8], every interval: Double) -> Self {
    Self(body: .promised(bytes.count, bytes.map { Chunk([$0], after: interval) }))
  }

  /// A fault: closes the connection instead of responding.
  public static var closeBeforeHead: Self { Self(body: .raw([]), ending: .close) }

  /// A fault: resets the connection instead of responding.
  public static var resetBeforeHead: Self { Self(body: .raw([]), ending: .reset) }

  /// Returns a fault: announces `promised` bytes, sends `sent` of them, then resets the connection.
  public static func resetMidBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .reset)
  }

  /// Returns a fault: announces `promised` bytes, sends `sent` of them, then closes the connection gracefully.
  public static func truncatedBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .close)
  }

  /// Returns a fault: announces `promised` bytes, sends `sent` of them, then nothing more.
  public static func stalledBody(promised: Int = 1000, sent: Int = 100) -> Self {
    Self(body: .promised(promised, [Chunk([UInt8](repeating: 120, count: sent))]), ending: .hang)
  }

  /// A fault: reads the request and never responds.
  public static var neverResponding: Self { Self(body: .raw([]), ending: .hang) }
}
