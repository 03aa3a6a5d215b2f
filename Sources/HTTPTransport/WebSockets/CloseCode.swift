/// The code with which a WebSocket is closed (RFC 6455 §7.4). Applications use 3000 to 4999.
public struct CloseCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Creates a code from its number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Creates a code from its number.
  public init(integerLiteral value: UInt16) { rawValue = value }

  /// 1000: the connection has fulfilled its purpose.
  public static let normal: CloseCode = 1000
  /// 1001: the server shuts down or the client navigates away.
  public static let goingAway: CloseCode = 1001
  /// 1002: a frame violates the protocol.
  public static let protocolError: CloseCode = 1002
  /// 1003: the peer does not accept messages of this type.
  public static let unsupportedData: CloseCode = 1003
  /// 1005: the close frame had no code. Never sent.
  public static let noCode: CloseCode = 1005
  /// 1006: the connection ended without a close frame. Never sent.
  public static let abnormal: CloseCode = 1006
  /// 1007: a text message is not valid UTF-8, or data does not match its type.
  public static let invalidData: CloseCode = 1007
  /// 1008: a message violates a policy.
  public static let policyViolation: CloseCode = 1008
  /// 1009: a message is too large.
  public static let tooLarge: CloseCode = 1009
  /// 1010: the server did not negotiate an extension that the client requires.
  public static let missingExtension: CloseCode = 1010
  /// 1011: the server encountered an internal error.
  public static let serverError: CloseCode = 1011
  /// 1012: the server restarts.
  public static let serviceRestart: CloseCode = 1012
  /// 1013: the server is overloaded; try again later.
  public static let tryAgainLater: CloseCode = 1013
  /// 1014: a gateway received an invalid response.
  public static let badGateway: CloseCode = 1014

  /// The number.
  public var description: String { "\(rawValue)" }

  /// Whether a close frame may carry the code (RFC 6455 §7.4.2, and the codes registered since).
  package var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// The codes of transient reasons, so that a new connection may succeed.
  static let transient: Set<CloseCode> = [
    .goingAway, .abnormal, .serverError, .serviceRestart, .tryAgainLater, .badGateway,
  ]
}

/// The code and reason with which a WebSocket was closed.
public struct WebSocketClose: Sendable, Hashable {
  /// The code of the peer's close frame; `noCode` if the frame had no code, `abnormal` if there was no frame.
  public var code: CloseCode
  /// The reason of the peer's close frame; empty if there was none.
  public var reason: String

  /// Creates a close with a code and a reason.
  public init(code: CloseCode, reason: String = "") {
    self.code = code
    self.reason = reason
  }
}
