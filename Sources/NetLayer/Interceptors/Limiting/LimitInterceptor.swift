import PortableFoundation
import Streams

/// Lets only so many requests run at once, and only so many begin in a span of time; the others wait for their turn
/// (article row 0.10).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [LimitInterceptor(maxPerHost: 4, rate: .init(10, per: .seconds(1)))])
/// ```
/// `CurlTransport` limits connections by itself; this is for servers that ask for less, and for any transport. Those who
/// wait go by `request.options.priority`, and within one priority in the order they came. One that waits can be cancelled;
/// `response.waited` says how long one has waited. It belongs behind all that pauses or repeats, so that a pause holds no
/// place, and each attempt waits for its turn. A download or a stream holds its place until the end of its body: as many loops
/// over bodies as `maxPerHost`, each with a call to that host inside, wait for one another. Read each body to its end first,
/// raise the limit, or `take` what is needed.
public final class LimitInterceptor: Interceptor {
  /// How many requests may begin in a span of time.
  public struct Rate: Sendable, Hashable {
    /// How many, and how many at once after a quiet time.
    public var count: Int
    /// The span.
    public var span: Duration

    /// On average `count` requests in each `span`; as many at once after a quiet one (a token bucket).
    public init(_ count: Int, per span: Duration) {
      self.count = count
      self.span = span
    }
  }

  /// When requests may begin (a token bucket).
  struct TokenBucket {
    private let count: Double
    private let perSecond: Double
    private var tokens: Double
    private var filled: Date

    init(_ rate: Rate, now: Date) {
      count = Double(max(1, rate.count))
      perSecond = count / max(1e-9, rate.span / .seconds(1))
      (tokens, filled) = (count, now)
    }

    /// Lets one begin at `now`; else returns when one may.
    mutating func take(at now: Date) -> Date? {
      tokens = min(count, tokens + max(0, now.timeIntervalSince(filled)) * perSecond)
      // Also backwards: a clock that is set back must not stop everything until it has caught up.
      filled = now
      // What was added up in fractions is a hair less than one.
      guard tokens > 1 - 1e-6 else { return now.addingTimeInterval((1 - tokens) / perSecond) }
      tokens -= 1
      return nil
    }
  }

  private enum Stage { case waiting, running, streaming, over }

  /// A request that waits, and what it is to become.
  private struct Call {
    let request: Request
    let next: Chain
    let subscription: Subscription
    let emit: Observable<Response>.Next
  }

  /// A place in the queue; disposing it leaves.
  private final class Waiting: HostQueue.Item, Disposable, @unchecked Sendable {
    // Safe: what varies is touched under the interceptor's lock only.
    private let interceptor: LimitInterceptor
    let lane: HostQueue.Lane
    let priority: Request.Priority
    let begun: Date
    /// Streaming while its body still comes in, whose end is the end of it.
    var stage = Stage.waiting
    var hasEnded: Bool { stage == .over }
    /// Until it runs, or has left: a place that is kept for longer must keep nothing else.
    var call: Call?

    init(_ interceptor: LimitInterceptor, _ call: Call, _ lane: HostQueue.Lane, _ begun: Date) {
      (self.interceptor, self.call, self.lane, self.begun) = (interceptor, call, lane, begun)
      priority = call.request.options.priority
    }

    func dispose() { interceptor.leave(self) }
  }

  private struct State {
    var queue: HostQueue
    /// Neighbours in time mostly go to the same origin.
    var last: (origin: String, lane: HostQueue.Lane)?
    var bucket: TokenBucket?
    /// Whether a thread starts requests: others leave theirs to it, so that starting never nests.
    var isStarting = false
    var alarm: Date?

    mutating func lane(for url: URL) -> HostQueue.Lane {
      if let (origin, lane) = last, Origin.isIn(origin, url.absoluteString) { return lane }
      let origin = Origin(url).text
      let lane = queue.lane(for: origin)
      last = (origin, lane)
      return lane
    }
  }

  private let scheduler: any SchedulerType
  /// Taken by whoever sends, leaves or is woken by the timer; requests are started outside it.
  private let state: Locked<State>
  private let timer = SerialDisposable()
  private let limitsHosts: Bool

  /// Limits; one that is `nil` is none.
  ///
  /// - Parameters:
  ///   - maxConcurrent: how many requests run at once in total, at least 1.
  ///   - maxPerHost: how many run at once for one host (scheme, name and port), at least 1.
  ///   - rate: how many may begin in a span of time.
  ///   - scheduler: what times are taken from.
  public init(
    maxConcurrent: Int? = nil, maxPerHost: Int? = nil, rate: Rate? = nil,
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    self.scheduler = scheduler
    limitsHosts = maxPerHost != nil
    let queue = HostQueue(perHost: maxPerHost ?? .max, total: maxConcurrent ?? .max, goesByAge: true)
    state = Locked(State(queue: queue, bucket: rate.map { TokenBucket($0, now: scheduler.now) }))
  }

  /// Sends `request` when it is its turn.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    Observable(push: { [self] subscription, emit in
      let now = scheduler.now
      let waiting = state.withLock { state in
        let call = Call(request: request, next: next, subscription: subscription, emit: emit)
        let lane = limitsHosts ? state.lane(for: request.url) : state.queue.lane(for: "")
        let waiting = Waiting(self, call, lane, now)
        state.queue.wait(waiting, in: lane, priority: waiting.priority)
        return waiting
      }
      subscription.own(waiting)
      startWhatMay()
    })
  }

  private func start(_ waiting: Waiting, _ call: Call) {
    let waited = scheduler.now.timeIntervalSince(waiting.begun)
    call.next(call.request).run(call.subscription) { [self] response in
      if let body = response.context[BodyReader.self]?.buffer {
        state.withLock { _ in if waiting.stage == .running { waiting.stage = .streaming } }
        body.whenOver { [self] in leave(waiting, isOver: true) }
      } else {
        // It runs no more: what happens with the response is no affair of the limits.
        leave(waiting)
      }
      // What is found free at once costs nothing.
      guard waited >= 0.001 else { return try call.emit(response) }
      var response = response
      response.context[Waited.self] += waited
      try call.emit(response)
    }
  }

  private func leave(_ waiting: Waiting, isOver: Bool = false) {
    let (hasLeft, former) = state.withLock { state -> (Bool, Call?) in
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
    withExtendedLifetime(former) {}  // released outside the lock
    if hasLeft { startWhatMay() }
  }

  private func startWhatMay() {
    while true {
      let now = scheduler.now
      let (first, alarm) = state.withLock { state -> ((Waiting, Call)?, Date?) in
        guard !state.isStarting, state.queue.hasNext else { return (nil, nil) }
        if let date = state.bucket?.take(at: now) {
          guard state.alarm != date else { return (nil, nil) }
          state.alarm = date
          return (nil, date)
        }
        guard let first = state.queue.next() as? Waiting, let call = first.call.take() else { return (nil, nil) }
        first.stage = .running
        state.isStarting = true
        return ((first, call), nil)
      }
      if let alarm { arm(alarm, now) }
      guard let (waiting, call) = first else { return }
      start(waiting, call)
      state.withLock { $0.isStarting = false }
    }
  }

  private func arm(_ date: Date, _ now: Date) {
    timer.disposable = scheduler.scheduleRelative(.seconds(date.timeIntervalSince(now))) { [weak self] in
      self?.state.withLock { $0.alarm = nil }
      self?.startWhatMay()
    }
  }
}

private enum Waited: ContextKey {
  static let defaultValue = 0.0
}

extension Response {
  /// How many seconds the request waited for its turn, where interceptors limit how many run; 0 for less than a millisecond.
  public var waited: Double { context[Waited.self] }
}
