import PortableFoundation
import Streams

/// A queue between a transport that receives WebSocket messages and a consumer that takes them at its own pace.
///
/// It pauses the transport when 256 KB are queued, and resumes it when half of that has been consumed. In the other
/// direction, a sender waits only while 64 KB have not been written yet.
final class SocketLink: Sendable {
  /// The owner of a link, carried by a response of status 101. Releasing it ends the socket.
  final class Owner: Sendable, ContextKey {
    static var defaultValue: Owner? { nil }

    let link: SocketLink

    init(_ link: SocketLink) { self.link = link }

    deinit { link.cancel() }
  }

  /// The options of a request that opens a socket; `nil` for all other requests.
  enum Opening: ContextKey {
    static var defaultValue: SocketOptions? { nil }
  }

  enum Step {
    case message(SocketMessage)
    case end(Result<SocketClose, NetworkError>)
    /// No message is available; the waiter will be called.
    case wait
  }

  /// A consumer that waits for a message; it is called once. Tasks resume on their own executors, so the transport's
  /// thread resumes them directly. Other consumers are called on the mapping scheduler.
  private struct Waiter {
    let isTask: Bool
    let call: @Sendable () -> Void
  }

  /// The same limit as for the bodies of streamed responses.
  private static let highWater = 256 << 10
  /// The number of unwritten bytes up to which a sender does not wait. The transport can then write many small messages
  /// with one call.
  private static let sendBuffer = 64 << 10
  /// The assumed cost of a message in addition to its bytes.
  private static let overhead = 64

  private struct State {
    var messages: [SocketMessage] = []
    var head = 0
    var bytes = 0
    var isPaused = false
    var resumesLate = false
    var end: Result<SocketClose, NetworkError>?
    var control: (any SocketControl)?
    var waiter: Waiter?
    var isClaimed = false
    /// The size of the messages that the transport has not written yet.
    var unwritten = 0
    /// Whether a message was not written. Later senders wait for the error of their own message.
    var hasLostMessages = false
    /// Whether the client has closed the socket, so that a close code from the server is not an error.
    var hasClosed = false
    /// The closures to call when the socket ends.
    var listeners: [@Sendable () -> Void] = []
  }

  private let scheduler: any ImmediateSchedulerType
  /// Guards the state, which the transport's thread, the reader and senders access. Control, waiter and listeners are
  /// called outside the lock.
  private let state = Locked(State())

  init(_ scheduler: any ImmediateSchedulerType) { self.scheduler = scheduler }

  // MARK: The transport

  func attach(_ control: any SocketControl) {
    let (isOver, resumes) = state.withLock { state in
      if state.end == nil { state.control = control }
      return (state.end != nil, state.resumesLate)
    }
    if isOver { control.dispose() } else if resumes { control.resume() }
  }

  func push(_ message: SocketMessage) -> BodyFlow {
    let (waiter, flow) = state.withLock { state -> (Waiter?, BodyFlow) in
      guard state.end == nil else { return (nil, .continue) }
      state.messages.append(message)
      state.bytes += message.byteCount + Self.overhead
      state.isPaused = state.bytes >= Self.highWater
      return (state.waiter.take(), state.isPaused ? .pause : .continue)
    }
    wake(waiter)
    return flow
  }

  /// Records the end, which follows the queued messages.
  func finish(_ result: Result<SocketClose, NetworkError>) {
    let (waiter, control, listeners) = state.withLock {
      state -> (Waiter?, (any SocketControl)?, [@Sendable () -> Void]) in
      guard state.end == nil else { return (nil, nil, []) }
      state.end = result
      defer { state.listeners = [] }
      return (state.waiter.take(), state.control.take(), state.listeners)
    }
    withExtendedLifetime(control) {}  // released outside the lock
    for listener in listeners { listener() }
    wake(waiter)
  }

  private func wake(_ waiter: Waiter?) {
    guard let waiter else { return }
    if waiter.isTask { waiter.call() } else { _ = scheduler.schedule(waiter.call) }
  }

  // MARK: The consumer

  /// Claims the right to read; returns `false` if another consumer has it.
  func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
  }

  /// Returns the next message or the end. If neither is available, calls `ready` later: immediately for a task, else on
  /// the mapping scheduler. Only one consumer may call this.
  func take(isTask: Bool = false, orCall ready: @escaping @Sendable () -> Void) -> Step {
    let (step, control) = state.withLock { state -> (Step, (any SocketControl)?) in
      guard state.head < state.messages.count else {
        if let end = state.end { return (.end(end), nil) }
        state.waiter = Waiter(isTask: isTask, call: ready)
        return (.wait, nil)
      }
      let message = state.messages[state.head]
      // Release the taken message now, before the array is compacted.
      state.messages[state.head] = .text("")
      state.head += 1
      state.bytes -= message.byteCount + Self.overhead
      if state.head == state.messages.count || state.head >= 1024 {
        state.messages.removeFirst(state.head)
        state.head = 0
      }
      guard state.isPaused, state.bytes <= Self.highWater / 2 else { return (.message(message), nil) }
      state.isPaused = false
      if state.control == nil { state.resumesLate = true }
      return (.message(message), state.control)
    }
    control?.resume()
    return step
  }

  /// Calls the waiter, if there is one, even without a message.
  func wakeWaiter() { state.withLock { $0.waiter.take() }?.call() }

  /// Calls `listener` once when the socket ends, or immediately if it has ended.
  func whenOver(_ listener: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.end == nil { state.listeners.append(listener) }
      return state.end != nil
    }
    if isOver { listener() }
  }

  /// Sends `message`. `completion` is called when the transport has written it, or immediately while less than 64 KB
  /// are unwritten: on the mapping scheduler, or on the current or the transport's thread to resume a task.
  func send(
    _ message: SocketMessage, isTask: Bool = false, _ completion: @escaping @Sendable (NetworkError?) -> Void
  ) {
    @Sendable func complete(_ error: NetworkError?) {
      if isTask { completion(error) } else { _ = scheduler.schedule { completion(error) } }
    }
    let size = message.byteCount + Self.overhead
    let (control, end, waits) = state.withLock { state in
      if state.control != nil { state.unwritten += size }
      return (state.control, state.end, state.hasLostMessages || state.unwritten > Self.sendBuffer)
    }
    guard let control else {
      if case .failure(let cause)? = end { return refuse(cause, completion) }
      return refuse(
        NetworkError(kind: .connection, reason: "the socket is closed, so the message was not sent"), completion)
    }
    control.send(message) { [self] error in
      state.withLock { state in
        state.unwritten -= size
        if error != nil { state.hasLostMessages = true }
      }
      if waits { complete(error) }
    }
    if !waits { complete(nil) }
  }

  private func refuse(_ error: NetworkError, _ completion: @escaping @Sendable (NetworkError?) -> Void) {
    _ = scheduler.schedule { completion(error) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    let control = state.withLock { state in
      if state.end == nil { state.hasClosed = true }
      return state.control
    }
    control?.close(code, reason: reason)
  }

  /// Whether the client has closed the socket.
  var hasClosed: Bool { state.withLock { $0.hasClosed } }

  /// Ends the socket without waiting for the server, and drops the queued messages.
  func cancel() {
    let (messages, control, waiter, listeners) = state.withLock { state in
      if state.end == nil || state.head < state.messages.count {
        state.end = .failure(NetworkError(kind: .cancelled, reason: "the socket was cancelled"))
      }
      defer { (state.messages, state.head, state.bytes, state.listeners) = ([], 0, 0, []) }
      return (state.messages, state.control.take(), state.waiter.take(), state.listeners)
    }
    withExtendedLifetime(messages) {}  // released outside the lock
    control?.dispose()
    for listener in listeners { listener() }
    wake(waiter)
  }
}
