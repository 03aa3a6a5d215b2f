import PortableFoundation
import Streams

/// A transport that opens WebSockets (RFC 6455), too.
public protocol SocketTransport: Transport {
  /// Opens a WebSocket at the URL of `request`, a GET without a body; `http` stands for `ws`, and `https` for `wss`.
  ///
  /// The closures of `receiver` are called on a thread of the transport's, one call at a time, and must not block:
  ///
  /// 1. `response`, once: with status 101 if the socket is open, otherwise with the complete response that refused it.
  /// 2. `message` for each message. After `pause`, no message is delivered before `resume()`, and the transport does not
  ///    read the socket.
  /// 3. `closed`, exactly once: with the server's close frame, or with an error. It is the only call if no response arrived;
  ///    after a response other than 101 it has an error of kind `status`.
  ///
  /// `request.timeouts.connect` limits the connection, `idle` the silence before the response, and `total` the time until
  /// the response. None of them limits an open socket; `SocketOptions.pongTimeout` does.
  ///
  /// - Returns: a control of the socket; disposing it closes the socket without waiting for the server, and `closed` then
  ///   has an error of kind `cancelled`.
  func connect(_ request: Request, options: SocketOptions, receiver: SocketReceiver) -> any SocketControl
}

/// The closures that a WebSocket is delivered to.
public struct SocketReceiver: Sendable {
  /// Takes the response to the opening request.
  public let response: @Sendable (Response) -> Void
  /// Takes a message.
  public let message: @Sendable (SocketMessage) -> BodyFlow
  /// Takes the end.
  public let closed: @Sendable (Result<SocketClose, NetworkError>) -> Void

  /// A receiver of these closures.
  public init(
    response: @escaping @Sendable (Response) -> Void, message: @escaping @Sendable (SocketMessage) -> BodyFlow,
    closed: @escaping @Sendable (Result<SocketClose, NetworkError>) -> Void
  ) {
    self.response = response
    self.message = message
    self.closed = closed
  }
}

/// Controls a WebSocket; every method may be called from any thread.
public protocol SocketControl: StreamControl {
  /// Sends `message`; messages are sent in the order of the calls.
  ///
  /// `completion` is called once, on a thread of the transport's: with `nil` when the system has taken the whole message, or
  /// with the reason why it was not sent, or may not have been. A sender that waits for it sends at the pace of the server.
  func send(_ message: SocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void)

  /// Sends a close frame after what was sent before, and waits up to 5 s for the server's; messages that still arrive are
  /// dropped.
  ///
  /// The reason is cut to 123 bytes. A code that must not be sent, such as 1005, sends a frame without a code.
  func close(_ code: CloseCode, reason: String)
}

extension NetworkError {
  /// The error of a socket that was closed with `close`; `nil` for a normal end.
  package static func closing(_ close: SocketClose, of request: Request?) -> NetworkError? {
    guard close.code != .normal, close.code != .noCode else { return nil }
    let place = request?.url.hostAndPort ?? "the server"
    let words = close.reason.isEmpty ? "" : ": \(close.reason.debugDescription)"
    return NetworkError(
      kind: .closed, code: Int(close.code.rawValue), reason: "\(place) closed the socket with \(close.code)\(words)",
      request: request)
  }
}
