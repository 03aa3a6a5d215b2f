import PortableFoundation
import Streams

/// What stands between a transport that delivers messages of a WebSocket and a consumer who takes them at its own pace.
///
/// It asks the transport to pause when 256 KB wait, and to go on when half of that has been taken.
final class SocketLink: Sendable {
  /// A link as a response of status 101 carries it: when nobody has it any more, the socket ends.
  final class Owner: Sendable, ContextKey {
    static var defaultValue: Owner? { nil }

    let link: SocketLink

    init(_ link: SocketLink) { self.link = link }

    deinit { link.cancel() }
  }

  /// The options with which a request opens a socket; `nil` for all other requests.
  enum Opening: ContextKey {
    static var defaultValue: SocketOptions? { nil }
  }

  enum Step {
    case message(SocketMessage)
    case end(Result<SocketClose, NetworkError>)
    /// Nothing is there; the waiter will be called.
    case wait
  }

  /// Who waits for a message, to be called once. A task goes on where it belongs, so that to resume it needs no hop off the
  /// transport's thread; all else does.
  private struct Waiter {
    let isTask: Bool
    let call: @Sendable () -> Void
  }

  /// As for the bodies of streamed responses.
  private static let highWater = 256 << 10
  /// What a message costs beside its bytes.
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
    /// Whether this side has closed the socket, so that no code of the server's is an error.
    var hasClosed = false
    /// Called when the socket has ended.
    var listeners: [@Sendable () -> Void] = []
  }

  private let scheduler: any ImmediateSchedulerType
  /// Taken by the transport's thread, the reader and senders; control, waiter and listeners are called behind it.
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

  /// Notes the end, behind the messages that are there.
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

  /// Takes the right to read; `false` when someone has it already.
  func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
  }

  /// The next message, or the end; where there is neither yet, `ready` is called when there is: for a task immediately, else
  /// on the mapping scheduler. By one consumer.
  func take(isTask: Bool = false, orCall ready: @escaping @Sendable () -> Void) -> Step {
    let (step, control) = state.withLock { state -> (Step, (any SocketControl)?) in
      guard state.head < state.messages.count else {
        if let end = state.end { return (.end(end), nil) }
        state.waiter = Waiter(isTask: isTask, call: ready)
        return (.wait, nil)
      }
      let message = state.messages[state.head]
      // What has been taken is not kept until the front is cleared.
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

  /// Calls the waiter, if there is one, though nothing has come.
  func wakeWaiter() { state.withLock { $0.waiter.take() }?.call() }

  /// Calls `listener`, once, when the socket has ended; immediately if it has.
  func whenOver(_ listener: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.end == nil { state.listeners.append(listener) }
      return state.end != nil
    }
    if isOver { listener() }
  }

  /// Sends `message`; `completion` is called on the mapping scheduler, or on the transport's thread to resume a task.
  func send(
    _ message: SocketMessage, isTask: Bool = false, _ completion: @escaping @Sendable (NetworkError?) -> Void
  ) {
    let scheduler = scheduler
    let (control, end) = state.withLock { ($0.control, $0.end) }
    guard let control else {
      var error = NetworkError(kind: .connection, reason: "the socket is closed, so the message was not sent")
      if case .failure(let cause)? = end { error = cause }
      _ = scheduler.schedule { [error] in completion(error) }
      return
    }
    if isTask { return control.send(message, completion: completion) }
    control.send(message) { error in _ = scheduler.schedule { completion(error) } }
  }

  func close(_ code: CloseCode, _ reason: String) {
    let control = state.withLock { state in
      if state.end == nil { state.hasClosed = true }
      return state.control
    }
    control?.close(code, reason: reason)
  }

  /// Whether this side has closed the socket.
  var hasClosed: Bool { state.withLock { $0.hasClosed } }

  /// Ends the socket without waiting for the server, and drops what has come.
  func cancel() {
    let (messages, control, waiter, listeners) = state.withLock { state in
      if state.end == nil || state.head < state.messages.count {
        state.end = .failure(NetworkError(kind: .cancelled, reason: "the reader of the socket has left"))
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
