import PortableFoundation
import Streams

/// A link between a transport and the user of a WebSocket: the queue of the received messages, and the state of sending.
final class WebSocketLink: Sendable {
  /// The owner of a link, carried by a response of status 101. Releasing it ends the socket.
  final class Owner: Sendable, ContextKey {
    static var defaultValue: Owner? { nil }

    let link: WebSocketLink

    init(_ link: WebSocketLink) { self.link = link }

    deinit { link.cancel() }
  }

  typealias Messages = FlowBuffer<WebSocketMessage, Result<WebSocketClose, NetworkError>, any WebSocketControl>

  /// The number of unwritten bytes up to which a sender does not wait.
  private static let sendBuffer = 64 << 10
  /// The assumed cost of a message in addition to its bytes.
  private static let overhead = 64

  private struct State {
    /// The size of the messages that the transport has not written yet.
    var unwritten = 0
    /// Whether a message was not written. Later senders wait for the error of their own message.
    var hasLostMessages = false
    /// Whether the client has closed the socket, so that a close code from the server is not an error.
    var hasClosed = false
  }

  let messages: Messages
  /// A closure that observes the messages to send; `nil` for none.
  private let onSend: (@Sendable (WebSocketMessage) -> Void)?
  /// Guards the state of sending, which senders and the transport's thread access.
  private let sending = Locked(State())

  init(_ scheduler: any ImmediateSchedulerType, onSend: (@Sendable (WebSocketMessage) -> Void)? = nil) {
    self.onSend = onSend
    messages = Messages(scheduler, limit: BodyBuffer.highWater, cost: Self.size, asControl: { $0 })
  }

  private static func size(_ message: WebSocketMessage) -> Int { message.byteCount + overhead }

  /// Sends `message`. `completion` is called on the mapping scheduler, or on any thread to resume a task.
  func send(
    _ message: WebSocketMessage, isTask: Bool = false, _ completion: @escaping @Sendable (NetworkError?) -> Void
  ) {
    @Sendable func complete(_ error: NetworkError?) {
      if isTask { completion(error) } else { _ = messages.scheduler.schedule { completion(error) } }
    }
    guard let control = messages.connection.control else { return fail(cause ?? Self.closed, completion) }
    // The transport would drop a message after the close frame.
    if hasClosed { return fail(Self.closed, completion) }
    let size = Self.size(message)
    let waits = sending.withLock { state in
      state.unwritten += size
      return state.hasLostMessages || state.unwritten > Self.sendBuffer
    }
    onSend?(message)
    control.send(message) { [self] error in
      sending.withLock { state in
        state.unwritten -= size
        if error != nil { state.hasLostMessages = true }
      }
      // The server may have closed the socket after this message was passed on.
      if waits { complete(error.map { cause ?? $0 }) }
    }
    if !waits { complete(nil) }
  }

  /// The error with which the socket has ended, or the code with which the server has closed it.
  private var cause: NetworkError? {
    switch messages.connection.end {
    case .failure(let cause)?: cause
    case .success(let close)?: NetworkError.closing(close, of: nil)
    case nil: nil
    }
  }

  private static var closed: NetworkError {
    NetworkError(kind: .connection, reason: "the socket is closed, so the message was not sent")
  }

  private func fail(_ error: NetworkError, _ completion: @escaping @Sendable (NetworkError?) -> Void) {
    _ = messages.scheduler.schedule { completion(error) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    let (control, end) = messages.connection
    if end == nil { sending.withLock { $0.hasClosed = true } }
    control?.close(code, reason: reason)
  }

  var hasClosed: Bool { sending.withLock { $0.hasClosed } }

  /// Ends the socket without waiting for the server, and drops the queued messages.
  func cancel() {
    messages.cancel(with: .failure(NetworkError(kind: .cancelled, reason: "the socket was cancelled")))
  }
}
