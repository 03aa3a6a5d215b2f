import PortableFoundation
import Streams

/// An interceptor that limits concurrent requests and the rate at which requests start; other requests wait.
///
/// `CurlTransport` limits connections itself. Use this interceptor for servers that demand lower limits, and for any
/// transport. Waiting requests are ordered by `request.options.priority`, then by arrival. A waiting request can be
/// cancelled; `response.waitedForLimit` is its waiting time. Place it after all interceptors that pause or retry, so that
/// pauses don't count against the limits and each attempt waits for its turn.
///
/// A download or a stream counts until the end of its body. Nested calls can deadlock: if `maxPerHost` loops over
/// bodies each make another call to that host, they wait for one another.
public final class LimitInterceptor: SendingInterceptor {
  /// A rate at which requests may start.
  public struct Rate: Sendable, Hashable {
    /// The number of requests per span, and the maximum burst after an idle time.
    public var count: Int
    /// The span of time.
    public var span: Duration

    /// Creates a rate of `count` requests per `span` on average, with bursts of `count` after an idle span (a token
    /// bucket).
    public init(_ count: Int, per span: Duration) {
      self.count = count
      self.span = span
    }
  }

  /// A token bucket that determines when requests may start.
  struct TokenBucket {
    private let count: Double
    private let perSecond: Double
    private var tokens: Double
    private var filled: Date

    init(_ rate: Rate) {
      count = Double(max(1, rate.count))
      perSecond = count / max(1e-9, rate.span / .seconds(1))
      (tokens, filled) = (count, .distantPast)
    }

    /// Takes a token at `now`, or returns the time when one is available.
    mutating func take(at now: Date) -> Date? {
      tokens = min(count, tokens + max(0, now.timeIntervalSince(filled)) * perSecond)
      // Also if the clock was set back, which must not stop all requests until the clock has caught up.
      filled = now
      // Allow for rounding errors of floating-point sums.
      guard tokens > 1 - 1e-6 else { return now.addingTimeInterval((1 - tokens) / perSecond) }
      tokens -= 1
      return nil
    }
  }

  private enum Stage { case waiting, running, streaming, over }

  private final class Call: StreamSource {
    let interceptor: LimitInterceptor
    let request: Request
    let next: InterceptorChain

    init(_ interceptor: LimitInterceptor, _ request: Request, _ next: InterceptorChain) {
      (self.interceptor, self.request, self.next) = (interceptor, request, next)
    }

    func start(_ sink: Sink<Response>) { interceptor.enqueue(self, sink) }
  }

  /// A place in the queue. Disposing it removes the request from the queue.
  private final class Waiting: HostQueue.Item, Disposable, @unchecked Sendable {
    // Safe: the mutable state is only accessed under the interceptor's lock.
    private let interceptor: LimitInterceptor
    let lane: HostQueue.Lane
    let priority: Request.Priority
    let begun: Date
    let clock: any SchedulerType
    /// The stage; `streaming` until the end of the response's body.
    var stage = Stage.waiting
    var hasEnded: Bool { stage == .over }
    /// Ends the wait after `maxWait`; `nil` without one.
    let timer: SerialDisposable?
    /// The call and its subscriber until it runs or leaves. After that, the place must not retain anything else.
    var call: (call: Call, sink: Sink<Response>)?

    init(_ call: Call, _ sink: Sink<Response>, _ lane: HostQueue.Lane, _ begun: Date) {
      (interceptor, self.call, self.lane, self.begun) = (call.interceptor, (call, sink), lane, begun)
      timer = call.interceptor.maxWait.map { _ in SerialDisposable() }
      priority = call.request.options.priority
      clock = call.next.clock
    }

    func dispose() { interceptor.leave(self) }
  }

  private struct State {
    var queue: HostQueue
    /// The lane of the last request, because successive requests usually have the same origin.
    var last: (origin: Origin, lane: HostQueue.Lane)?
    var bucket: TokenBucket?
    /// Whether a thread is starting requests.
    var isStarting = false
    var alarm: Date?

    mutating func lane(for url: URL) -> HostQueue.Lane {
      if let (origin, lane) = last, origin.contains(url) { return lane }
      let origin = Origin(url)
      let lane = queue.lane(for: origin.text)
      last = (origin, lane)
      return lane
    }
  }

  /// Guards the state, which requests that arrive or leave and the timer access. Requests are started outside the lock.
  private let state: Locked<State>
  private let timer = SerialDisposable()
  private let limitsHosts: Bool
  private let maxWait: Duration?

  /// Creates an interceptor with a limit of all concurrent requests, of those per host (scheme, name and port), and of
  /// the rate at which requests start. Pass `nil` for no limit.
  ///
  /// A request that can't start within `maxWait` fails with kind `unavailable`, so that a slow server does not collect requests
  /// whose callers no longer wait. By default, requests wait until the limit of their call. A limit below what the usual latency
  /// needs rejects requests of a healthy server: choose about twice the usual number in flight.
  public init(maxConcurrent: Int? = nil, maxPerHost: Int? = nil, rate: Rate? = nil, maxWait: Duration? = nil) {
    limitsHosts = maxPerHost != nil
    self.maxWait = maxWait
    let queue = HostQueue(perHost: maxPerHost ?? .max, total: maxConcurrent ?? .max, goesByAge: true)
    state = Locked(State(queue: queue, bucket: rate.map { TokenBucket($0) }))
  }

  /// Sends `request` when the limits permit it.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable(Call(self, request, next))
  }

  private func enqueue(_ call: Call, _ sink: Sink<Response>) {
    let now = call.next.clock.now
    let waiting = state.withLock { state in
      let lane = limitsHosts ? state.lane(for: call.request.url) : state.queue.lane(for: "")
      let waiting = Waiting(call, sink, lane, now)
      state.queue.wait(waiting, in: lane, priority: waiting.priority)
      return waiting
    }
    sink.subscription.own(waiting)
    startAdmitted(call.next.clock)
    guard let maxWait, let timer = waiting.timer, state.withLock({ _ in waiting.stage == .waiting }) else { return }
    timer.disposable = waiting.clock.scheduleRelative(max(.zero, maxWait)) { [weak self, weak waiting] in
      if let waiting { self?.giveUp(waiting, after: maxWait) }
    }
  }

  private func giveUp(_ waiting: Waiting, after wait: Duration) {
    let left = state.withLock { state -> (call: Call, sink: Sink<Response>)? in
      guard waiting.stage == .waiting else { return nil }
      waiting.stage = .over
      state.queue.endedWaiting(in: waiting.lane, priority: waiting.priority)
      return waiting.call.take()
    }
    guard let (call, sink) = left else { return }
    let reason =
      "not sent: no place became free within \(wait), because of a LimitInterceptor; raise its limits or maxWait"
    sink.subscription.fail(NetworkError(kind: .unavailable, reason: reason, request: call.request))
  }

  private func start(_ waiting: Waiting, _ call: Call, _ sink: Sink<Response>) {
    waiting.timer?.dispose()
    let waited = call.next.clock.now.timeIntervalSince(waiting.begun)
    call.next(call.request).run(sink.subscription) { [self] response in
      if let body = response.context[BodyReader.self]?.buffer {
        state.withLock { _ in if waiting.stage == .running { waiting.stage = .streaming } }
        body.whenOver { [self] in leave(waiting, isOver: true) }
      } else {
        // The request has ended; processing the response does not count against the limits.
        leave(waiting)
      }
      // Requests that start immediately skip the bookkeeping.
      guard waited >= 0.001 else { return try sink.next(response) }
      var response = response
      response.context[Waited.self] += Duration(clampingSeconds: waited)
      try sink.next(response)
    }
  }

  private func leave(_ waiting: Waiting, isOver: Bool = false) {
    let hasLeft = state.take { state -> (Bool, (Call, Sink<Response>)?) in
      let stage = waiting.stage
      guard stage != .over, isOver || stage != .streaming else { return (false, nil) }
      waiting.stage = .over
      if stage == .waiting {
        state.queue.endedWaiting(in: waiting.lane, priority: waiting.priority)
      } else {
        state.queue.end(waiting.lane)
      }
      return (true, waiting.call.take())
    }
    waiting.timer?.dispose()
    if hasLeft { startAdmitted(waiting.clock) }
  }

  /// Starts the requests that may run at the time of `clock`, which all backends of an interceptor share.
  private func startAdmitted(_ clock: any SchedulerType) {
    while true {
      let now = clock.now
      let (first, alarm) = state.withLock { state -> ((Waiting, Call, Sink<Response>)?, Date?) in
        guard !state.isStarting, state.queue.hasNext else { return (nil, nil) }
        if let date = state.bucket?.take(at: now) {
          guard state.alarm != date else { return (nil, nil) }
          state.alarm = date
          return (nil, date)
        }
        guard let first = state.queue.next() as? Waiting, let (call, sink) = first.call.take() else {
          return (nil, nil)
        }
        first.stage = .running
        state.isStarting = true
        return ((first, call, sink), nil)
      }
      if let alarm { arm(alarm, clock) }
      guard let (waiting, call, sink) = first else { return }
      start(waiting, call, sink)
      state.withLock { $0.isStarting = false }
    }
  }

  private func arm(_ date: Date, _ clock: any SchedulerType) {
    timer.disposable = clock.scheduleRelative(.seconds(date.timeIntervalSince(clock.now))) { [weak self] in
      self?.state.withLock { $0.alarm = nil }
      self?.startAdmitted(clock)
    }
  }
}

private enum Waited: ContextKey { static let defaultValue = Duration.zero }

extension Response {
  /// The time that the request waited for a limit; zero for less than a millisecond.
  public var waitedForLimit: Duration { context[Waited.self] }
}
