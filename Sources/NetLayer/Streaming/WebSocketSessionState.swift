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
