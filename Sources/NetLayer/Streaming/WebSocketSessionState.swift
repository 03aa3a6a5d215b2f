import PortableFoundation
import Streams

/// The state of a session's newest connection, to which messages are sent.
///
/// A lost connection or a disposed subscription may still report on another thread; only reports of the current
/// connection are used.
final class WebSocketSessionState: Sendable {
  enum Step: Sendable {
    case waiting
    case open(WebSocket)
    case ended(NetworkError)
  }

  private struct State {
    /// Incremented by each subscription and each connection.
    var subscription = 0
    var connection = 0
    var step = Step.waiting
  }

  /// Guards the state, which senders and the threads that start or end a connection access. Sockets are released and
  /// senders notified outside the lock.
  private let state = Locked(State())
  /// A signal that the state may have changed. It does not carry the state, because two threads could publish states in
  /// the wrong order.
  private let changes = BehaviorSubject<Void>(value: ())

  /// The state at the subscription, then each later state.
  var steps: Observable<Step> { changes.asObservable().map { [self] in state.withLock { $0.step } } }

  /// Starts a subscription, which replaces all earlier ones.
  func subscribe() -> Int {
    change { state in
      state.subscription += 1
      state.connection += 1
      state.step = .waiting
      return state.subscription
    }
  }

  /// Ends a subscription. Only its first error is used.
  func end(_ subscription: Int, _ error: NetworkError) {
    change { state in
      if case .ended = state.step { return }
      guard state.subscription == subscription else { return }
      state.connection += 1
      state.step = .ended(error)
    }
  }

  /// Starts a connection of `subscription`, or returns `nil` if the subscription has ended.
  func connect(_ subscription: Int) -> Int? {
    change { state in
      if case .ended = state.step { return nil }
      guard state.subscription == subscription else { return nil }
      state.connection += 1
      state.step = .waiting
      return state.connection
    }
  }

  func open(_ socket: WebSocket, _ connection: Int?) {
    change { state in if state.connection == connection { state.step = .open(socket) } }
  }

  func lose(_ connection: Int?) {
    change { state in
      guard state.connection == connection else { return }
      state.connection += 1
      state.step = .waiting
    }
  }

  private func change<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
    let result = state.take { state in
      let before = state.step
      return (body(&state), before)
    }
    changes.onNext(())
    return result
  }
}

/// The number of failed attempts of one subscription.
final class ReconnectCount: Sendable {
  private struct State {
    var attempt = 0
    var hasOpened = false
    /// The time when the last connection opened; `nil` once it has been lost.
    var openedAt: Duration?
  }

  /// The maximum delay that a server may request; without it, a request for years would stop the session.
  private static let longestPause = Duration.seconds(600)

  private let policy: RetryPolicy?
  /// Guards the count, which the messages' thread and the reconnecting thread access in turn.
  private let state = Locked(State())

  init(_ policy: RetryPolicy?) { self.policy = policy }

  func noteOpening() {
    let now = policy?.timer.uptime
    state.withLock { state in
      state.hasOpened = true
      state.openedAt = now
    }
  }

  func noteMessage() { state.withLock { $0.attempt = 0 } }

  /// Returns the delay before the next connection, or `nil` if there is none.
  func pause(after error: any Error) -> Duration? {
    guard let policy else { return nil }
    let now = policy.timer.uptime
    let (attempt, hasOpened) = state.withLock { state in
      if let openedAt = state.openedAt.take(), now - openedAt >= policy.maxDelay { state.attempt = 0 }
      state.attempt += 1
      return (state.attempt, state.hasOpened)
    }
    let known = NetworkError.wrapping(error)
    let isRestart = hasOpened && known.kind == .status && Response.isPassing(known.code)
    let isTransientClose =
      known.kind == .closed && UInt16(exactly: known.code).map { CloseCode(rawValue: $0).isTransient } == true
    guard known.kind.isTransient || isRestart || isTransientClose,
      let pause = policy.delay(after: error, attempt: attempt)
    else { return nil }
    let asked = known.response.flatMap { RetryAfter($0.headers, now: policy.timer.now)?.pause }
    return max(pause, min(asked ?? .zero, Self.longestPause))
  }
}
