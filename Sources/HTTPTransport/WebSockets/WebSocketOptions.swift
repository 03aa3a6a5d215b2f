/// The options of one WebSocket.
public struct WebSocketOptions: Sendable, Hashable {
  /// The subprotocols that the client offers, in order of preference (RFC 6455 §1.9). The server selects at most one.
  public var subprotocols: [String]
  /// The maximum number of bytes in a message after decompression. A larger message closes the socket with 1009 and
  /// fails it with `tooLarge`. The default, 1 MB, is far larger than messages of chats and feeds.
  public var maxMessageSize: Int
  /// The time without received data after which the client sends a ping; `nil` for no pings. The default, 30 s, is
  /// below the 60 s after which many proxies close an idle connection. An interval of zero or less fails the socket with
  /// `invalidRequest`.
  public var pingInterval: Duration?
  /// The time that the server has to send anything after a ping; `nil` for no limit. When it is exceeded, the socket
  /// fails with `timeout`. The default is 15 s, because a pong needs no work. A limit of zero or less fails the socket with
  /// `invalidRequest`.
  public var pongTimeout: Duration?
  /// Whether the client offers compression (permessage-deflate, RFC 7692). The default is `false`.
  ///
  /// Compression takes about 300 KB of memory for each socket and applies to messages of 64 bytes and more. It requires
  /// zlib at run time (`CurlTransport.Capabilities.gzip`). Without zlib, and with `URLSessionTransport`, the client
  /// does not offer compression.
  public var compression: Bool
  /// The time that the server has for its close frame; shorter in tests.
  var closeTimeout: Duration = .seconds(5)

  /// The codes with which the server ends the messages without an error; by default 1000 and a close without a code.
  ///
  /// Add the codes of the application that the app handles as data: it reads them as `serverClose` of the socket. Every
  /// other code is an error of kind `socketClosed`.
  public var expectedCloseCodes: Set<CloseCode>

  /// The codes after which a session reconnects: 1001, 1006 and 1011 to 1014 by default, which the RFC and its registry
  /// describe as temporary.
  ///
  /// Add the codes of the application for which a new connection may succeed:
  ///
  /// ```swift
  /// options.reconnectingCloseCodes.formUnion((4200...4299).map { CloseCode(rawValue: $0) })
  /// ```
  /// A code of `expectedCloseCodes` ends the messages instead.
  public var reconnectingCloseCodes: Set<CloseCode> = CloseCode.transient

  /// Creates options. See the properties for the defaults.
  public init(
    subprotocols: [String] = [], maxMessageSize: Int = 1 << 20, pingInterval: Duration? = .seconds(30),
    pongTimeout: Duration? = .seconds(15), compression: Bool = false,
    expectedCloseCodes: Set<CloseCode> = [.normal, .noCode]
  ) {
    self.subprotocols = subprotocols
    self.maxMessageSize = maxMessageSize
    self.pingInterval = pingInterval
    self.pongTimeout = pongTimeout
    self.compression = compression
    self.expectedCloseCodes = expectedCloseCodes
  }

  /// The reason why these options are invalid, with the remedy; `nil` if they are valid.
  package var problem: String? {
    for (index, name) in subprotocols.enumerated() {
      if !RequestCheck.isToken(name) {
        return "the subprotocol \(name.debugDescription) is not a valid token; use letters, digits, dots and hyphens"
      }
      if subprotocols[..<index].contains(name) { return "the subprotocol \(name) is offered twice; remove one" }
    }
    if maxMessageSize < 0 { return "WebSocketOptions.maxMessageSize is \(maxMessageSize); set 0 or more bytes" }
    for (name, value) in [("pingInterval", pingInterval), ("pongTimeout", pongTimeout)] {
      if let value, value <= .zero {
        return "WebSocketOptions.\(name) is \(value.text); set a positive duration, or nil to disable it"
      }
    }
    return nil
  }
}
