import PortableFoundation
import Streams

/// Where the messages of a session are sent: the state of its newest connection.
///
/// A connection that was lost, and a subscription that was disposed, may still speak on another thread: only what comes from
/// the current one counts.
final class SocketSessionState: Sendable {
  enum Step: Sendable {
    case waiting
    case open(Socket)
    case ended(NetworkError)
  }

  private struct State {
    /// Counted up with each subscription, and with each connection.
    var subscription = 0
    var connection = 0
    var step = Step.waiting
  }

  /// Taken by senders and by whatever thread begins or ends a connection; sockets are released and senders told behind it.
  private let state = Locked(State())
  /// Says that the state may have changed. It does not carry the state: two threads could publish theirs in the wrong order.
  private let changes = BehaviorSubject<Void>(value: ())

  /// The state at the subscription, and each that is current later.
  var steps: Observable<Step> { changes.asObservable().map { [self] in state.withLock { $0.step } } }

  /// Begins a subscription, which outdates all others.
  func subscribe() -> Int {
    change { state in
      state.subscription += 1
      state.connection += 1
      state.step = .waiting
      return state.subscription
    }
  }

  /// Ends a subscription; its first error counts.
  func end(_ subscription: Int, _ error: NetworkError) {
    change { state in
      if case .ended = state.step { return }
      guard state.subscription == subscription else { return }
      state.connection += 1
      state.step = .ended(error)
    }
  }

  /// Begins a connection of `subscription`; `nil` if that is over.
  func connect(_ subscription: Int) -> Int? {
    change { state in
      if case .ended = state.step { return nil }
      guard state.subscription == subscription else { return nil }
      state.connection += 1
      state.step = .waiting
      return state.connection
    }
  }

  func open(_ socket: Socket, _ connection: Int?) {
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
    let (result, before) = state.withLock { state in
      let before = state.step
      return (body(&state), before)
    }
    withExtendedLifetime(before) {}  // released outside the lock
    changes.onNext(())
    return result
  }
}
