extension TestServer {
  /// A script for the server's side of a WebSocket (RFC 6455).
  ///
  ///     let server = try TestServer { _ in .socket(.echo) }
  ///     let ticks = TestServer.WebSocketScript(onOpen: [.text("1"), .wait(0.1), .text("2"), .close(1000, "")])
  public struct WebSocketScript: Sendable {
    /// A message from the client, assembled from its fragments.
    public enum Message: Sendable, Equatable {
      /// Text.
      case text(String)
      /// Bytes.
      case binary([UInt8])
    }

    /// A step of the server.
    public enum Action: Sendable {
      /// Sends a text message.
      case text(String)
      /// Sends a binary message.
      case binary([UInt8])
      /// Sends a ping with this payload of at most 125 bytes.
      case ping([UInt8])
      /// Sends a close frame. The connection ends after the client's close frame.
      case close(UInt16, String)
      /// Fault: sends exactly these bytes, which need not be a valid frame.
      case raw([UInt8])
      /// Waits for a number of seconds. Other connections are not delayed.
      case wait(Double)
      /// Fault: stops reading.
      case stopReading
      /// Fault: closes the connection gracefully, without a close frame.
      case end
      /// Fault: resets the connection.
      case reset
    }

    /// The steps after the socket has opened.
    public var onOpen: [Action]
    /// Fault: the `Sec-WebSocket-Accept` of the response; `nil` for the correct value.
    public var accept: String?
    /// The steps for each message from the client. The closure is called on the server's only thread.
    public var onMessage: @Sendable (Message) -> [Action]
    /// The steps for each control frame from the client, by opcode (8 close, 9 ping, 10 pong) and payload; `nil` for
    /// the standard behavior.
    public var onControl: @Sendable (UInt8, [UInt8]) -> [Action]?

    /// Creates a script. By default, the server opens the socket and sends nothing.
    public init(
      onOpen: [Action] = [], accept: String? = nil,
      onMessage: @escaping @Sendable (Message) -> [Action] = { _ in [] },
      onControl: @escaping @Sendable (UInt8, [UInt8]) -> [Action]? = { _, _ in nil }
    ) {
      (self.onOpen, self.accept, self.onControl, self.onMessage) = (onOpen, accept, onControl, onMessage)
    }

    /// A script that returns every message to its sender.
    public static let echo = WebSocketScript { message in
      switch message {
      case .text(let text): [.text(text)]
      case .binary(let bytes): [.binary(bytes)]
      }
    }

    /// Returns the bytes of a server frame. Arguments other than the defaults can create invalid frames.
    ///
    /// `length` overrides the length in the frame header.
    package static func frame(
      _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = false,
      length: UInt64? = nil
    ) -> [UInt8] {
      var bytes = [(isFinal ? 0x80 : 0) | (reserved & 7) << 4 | (opcode & 15)]
      let mark: UInt8 = isMasked ? 0x80 : 0
      let length = length ?? UInt64(payload.count)
      switch length {
      case ...125: bytes.append(mark | UInt8(length))
      case ...0xFFFF: bytes += [mark | 126, UInt8(length >> 8), UInt8(length & 255)]
      default: bytes += [mark | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
      }
      if isMasked { bytes += [0, 0, 0, 0] }
      return bytes + payload
    }
  }
}

extension TestServer.Response {
  /// Returns a response that opens a WebSocket with `script`, and with `subprotocol` if it is not `nil`.
  public static func socket(_ script: TestServer.WebSocketScript, subprotocol: String? = nil) -> Self {
    var response = Self(status: 101)
    response.socket = script
    return subprotocol.map { response.header("Sec-WebSocket-Protocol", $0) } ?? response
  }
}
