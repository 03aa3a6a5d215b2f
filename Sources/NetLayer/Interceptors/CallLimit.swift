import PortableFoundation
import Streams

/// A part of a call that the end of its time limit fails: a request in the transport, or the wait for a shared request.
protocol LimitedWork: AnyObject, Sendable {
  func end(with error: NetworkError)
}

/// The time limit of a call, which its requests carry.
///
/// No pause begins that it would cut. When it ends, the requests in flight fail, so that their errors pass all interceptors like
/// those of a transport. The call itself fails if none is in flight, if an interceptor sends another request, or a second later.
final class CallLimit: Disposable {
  private enum Key: ContextKey { static let defaultValue: CallLimit? = nil }

  private struct State {
    /// On the clock; `nil` for none.
    var deadline: Duration?
    var isOver = false
    /// Whether the call has ended, so that an error, whose request has this limit, would be kept forever.
    var isDisposed = false
    var work: [any LimitedWork] = []
    /// The last failure of the transport, or of a response that is not a success.
    var last: (@Sendable () -> NetworkError)?
    /// The subscription that the end of the call fails, and its error.
    var end: (subscription: Subscription, error: @Sendable () -> NetworkError)?
  }

  /// The time for which an interceptor may respond to the end.
  private static let grace = Duration.seconds(1)

  private let clock: any SchedulerType
  /// Guards the state, which the clock, the transport and the interceptors access. Work is ended outside the lock.
  private let state: Locked<State>

  private init(_ deadline: Duration?, _ clock: any SchedulerType) {
    self.clock = clock
    state = Locked(State(deadline: deadline))
  }

  /// Attaches the limit to the request of a call that begins; returns `nil` if it has none, or one that the transport rejects.
  static func begin(_ request: inout Request, _ clock: any SchedulerType) -> CallLimit? {
    guard let limit = request.timeouts.call else { return nil }
    // A limit of many years may exceed the range of a scheduler.
    let isUsed = limit > .zero && limit < .seconds(1_000_000_000)
    let new = isUsed ? CallLimit(clock.uptime + limit, clock) : nil
    request.context[Key.self] = new
    return new
  }

  static func of(_ request: Request) -> CallLimit? { request.hasCallLimit ? request.context[Key.self] : nil }

  // MARK: The call

  func limiting(
    _ responses: Observable<Response>, error: @escaping @Sendable () -> NetworkError
  ) -> Observable<Response> {
    responses.takeUntil(
      Observable<Never>(push: { [self] subscription, _ in
        let rest = state.withLock { state in
          state.end = (subscription, error)
          return state.deadline
        }
        subscription.own(self)
        subscription.own(clock.scheduleRelative(max(.zero, (rest ?? .zero) - clock.uptime)) { [self] in timeOut() })
      }))
  }

  private func timeOut() {
    guard let (subscription, error) = state.withLock({ $0.end }) else { return }
    guard expire(error()) else { return end() }
    subscription.own(clock.scheduleRelative(Self.grace) { [self] in end() })
  }

  private func end() {
    guard let (subscription, error) = state.withLock({ $0.end.take() }) else { return }
    subscription.fail(explained(error()))
  }

  /// Forgets the requests of a call that has ended. Work that outlives it, such as a refresh of the cache, has no limit.
  func dispose() { state.release { state in exchange(&state, with: State(isDisposed: true)) } }

  // MARK: The requests

  /// Ends what is in flight. Returns whether there was anything, which receives the error.
  func expire(_ error: NetworkError) -> Bool {
    let work = state.withLock { state in
      state.isOver = true
      return state.work
    }
    if work.isEmpty { return false }
    let error = explained(error)
    for item in work { item.end(with: error) }
    return true
  }

  /// Adds work that begins. Returns `false` after the end of the limit, which then fails the call.
  func admits(_ item: any LimitedWork) -> Bool {
    let isOver = state.withLock { state in
      if !state.isOver { state.work.append(item) }
      return state.isOver
    }
    if isOver { end() }
    return !isOver
  }

  func leave(_ item: any LimitedWork) { state.withLock { $0.work.removeAll { $0 === item } } }

  /// Notes a failure of the transport, or of a response, whose error is made when it is needed.
  func note(_ failure: @escaping @Sendable () -> NetworkError) {
    state.release { state in state.isOver || state.isDisposed ? nil : exchange(&state.last, with: failure) }
  }

  func explained(_ error: NetworkError) -> NetworkError {
    guard let failure = state.withLock({ $0.last })?() else { return error }
    var error = error
    error.underlying = failure
    error.reason += "; the last attempt: \(failure.reason)"
    return error
  }

  // MARK: The pauses

  /// The time until the end; `nil` without a limit.
  private var rest: Duration? {
    let (isOver, deadline) = state.withLock { ($0.isOver, $0.deadline) }
    return isOver ? .zero : deadline.map { $0 - clock.uptime }
  }

  func allows(_ pause: Duration) -> Bool { rest.map { pause < $0 } ?? true }

  // MARK: Shared requests

  /// Returns the limit of a request that several calls share. It ends with the last of them.
  func shared(_ clock: any SchedulerType) -> CallLimit { CallLimit(rest.map { clock.uptime + $0 }, clock) }

  /// Extends the limit of a shared request for a call that joins, which has its own limit or none.
  func extend(to other: CallLimit?) {
    let end = other?.rest.map { clock.uptime + $0 }
    state.withLock { state in
      state.deadline = if let end, let deadline = state.deadline { max(end, deadline) } else { nil }
    }
  }

  func attached(to request: Request) -> Request {
    var request = request
    request.context[Key.self] = self
    return request
  }
}
