import Streams

/// The number of consecutive failed connections of one event stream or WebSocket session.
///
/// A connection has succeeded when it has lasted: 5 s if it has received an event or a message, otherwise the policy's
/// `maxDelay`, at least 5 s and at most 60 s. A server that has sent a delay of 1 s or more may end it after each event.
final class ReconnectCount: Sendable {
  private struct State {
    var attempts = 0
    var hasOpened = false
    var hasReceived = false
    /// The time when the last connection opened; `nil` once it has been lost.
    var openedAt: Duration?
  }

  /// The time that a connection must last if it has brought something.
  private static let shortestSuccess = Duration.seconds(5)
  private static let longestSuccess = Duration.seconds(60)
  /// The maximum delay that a server may request; without it, a request for years would stop the stream.
  private static let longestPause = Duration.seconds(600)

  private let policy: RetryPolicy?
  /// The close codes of a WebSocket after which another connection follows.
  private let closeCodes: Set<CloseCode>
  /// Guards the count, which the thread of the messages and the reconnecting thread access in turn.
  private let state = Locked(State())

  init(_ policy: RetryPolicy?, after closeCodes: Set<CloseCode> = []) {
    (self.policy, self.closeCodes) = (policy, closeCodes)
  }

  /// The number of connections since the last one that has succeeded.
  var attempts: Int { state.withLock { $0.attempts } }

  func noteOpening() {
    let now = policy?.timer.uptime
    state.withLock { ($0.hasOpened, $0.hasReceived, $0.openedAt) = (true, false, now) }
  }

  func noteReceipt() { state.withLock { $0.hasReceived = true } }

  /// Returns the delay before the next connection, or `nil` if there is none.
  ///
  /// - Parameter isEnd: Whether the server has ended the connection normally, and another one is expected.
  func pause(after error: any Error, isEnd: Bool = false, stated: Duration? = nil) -> Duration? {
    guard let policy else { return nil }
    let now = policy.timer.uptime
    let (attempts, hasOpened) = state.withLock { state in
      if let openedAt = state.openedAt.take() {
        let isPoll = isEnd && state.hasReceived && stated.map { $0 >= .seconds(1) } ?? false
        let quiet = max(Self.shortestSuccess, min(policy.maxDelay, Self.longestSuccess))
        if isPoll || now - openedAt >= (state.hasReceived ? Self.shortestSuccess : quiet) { state.attempts = 0 }
      }
      state.attempts += 1
      return (state.attempts, state.hasOpened)
    }
    let known = NetworkError.wrapping(error)
    let isRestart = hasOpened && known.kind == .status && Response.isPassing(known.code)
    let isTransientClose = known.closeCode.map(closeCodes.contains) ?? false
    guard isEnd || known.isTransient || isRestart || isTransientClose,
      let pause = policy.delay(after: error, attempt: attempts)
    else { return nil }
    let busy = known.retryAfter(now: policy.timer.now)
    return max(pause, min(max(stated ?? .zero, busy ?? .zero), Self.longestPause))
  }
}

extension NetworkError {
  /// The code with which the server closed a WebSocket; `nil` for another error.
  var closeCode: CloseCode? { kind == .socketClosed ? UInt16(exactly: code).map { CloseCode(rawValue: $0) } : nil }
}
