import PortableFoundation
import Streams

/// A transport that also opens WebSockets (RFC 6455).
public protocol WebSocketTransport: Transport {
  /// Opens a WebSocket at the URL of `request`, a GET without a body. Use `http` for `ws`, and `https` for `wss`.
  ///
  /// The transport calls the closures of `receiver` on one of its threads, one call at a time. They must not block:
  ///
  /// 1. `response`, once: with status 101 if the socket is open, otherwise with the complete response that rejects it.
  /// 2. `message` for each message. After `pause`, no message is delivered before `resume()`, and the transport does
  ///    not read the socket.
  /// 3. `closed`, exactly once: with the server's close frame, or with an error. If no response arrives, this is the
  ///    only call. After a response other than 101, the error is of kind `status`.
  ///
  /// `request.timeouts.connect` limits the time to connect, `idle` the time without data before the response, and
  /// `attempt` the time until the response. An open socket is limited only by `WebSocketOptions.pongTimeout`.
  ///
  /// - Returns: A control of the socket. Disposing it closes the socket without waiting for the server; `closed` then
  ///   receives an error of kind `cancelled`.
  func connect(_ request: Request, options: WebSocketOptions, receiver: WebSocketReceiver) -> any WebSocketControl
}

/// The closures that receive the events of a WebSocket.
public struct WebSocketReceiver: Sendable {
  /// The closure that receives the response to the opening request.
  public let response: @Sendable (Response) -> Void
  /// The closure that receives each message.
  public let message: @Sendable (WebSocketMessage) -> BodyFlow
  /// The closure that receives the result when the socket is closed.
  public let closed: @Sendable (Result<WebSocketClose, NetworkError>) -> Void

  /// Creates a receiver from its closures.
  public init(
    response: @escaping @Sendable (Response) -> Void, message: @escaping @Sendable (WebSocketMessage) -> BodyFlow,
    closed: @escaping @Sendable (Result<WebSocketClose, NetworkError>) -> Void
  ) {
    self.response = response
    self.message = message
    self.closed = closed
  }
}

/// A control of a WebSocket. Every method may be called from any thread.
public protocol WebSocketControl: StreamControl {
  /// Sends `message`, in the order of the calls.
  ///
  /// The transport calls `completion` once, on one of its threads: with `nil` when the system has accepted the whole
  /// message, or with an error if the message was not or may not have been sent. A sender that waits for `completion`
  /// applies the server's backpressure.
  func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void)

  /// Sends a close frame after all earlier messages, and waits up to 5 s for the server's close frame. Messages that
  /// arrive meanwhile are dropped.
  ///
  /// The reason is truncated to 123 bytes. For a code that must not be sent, such as 1005, the frame has no code.
  func close(_ code: CloseCode, reason: String)
}

extension NetworkError {
  /// Returns the error of a socket that was closed with `close`; `nil` for a code that is `expected`.
  package static func closing(
    _ close: WebSocketClose, of request: Request?, expected: Set<CloseCode> = [.normal, .noCode]
  ) -> NetworkError? {
    guard !expected.contains(close.code) else { return nil }
    let place = request?.url.hostAndPort ?? "the server"
    let words = close.reason.isEmpty ? "" : ": \(close.reason.debugDescription)"
    return NetworkError(
      kind: .socketClosed, code: Int(close.code.rawValue),
      // The server's own words for the user, if there are any.
      message: close.reason.isEmpty ? nil : close.reason,
      reason: "\(place) closed the socket with \(close.code)\(words)",
      request: request)
  }
}
