import Foundation
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
/// place, and each attempt waits for its turn. A download or a stream holds its place until the end of its body.
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

  /// A request and who waits for it.
  private final class Waiting: @unchecked Sendable {  // safe: the number is touched under the interceptor's lock only
    let request: Request
    let next: Chain
    let subscription: Subscription
    let emit: Observable<Response>.Next
    let begun: Date
    /// Its number in the queue, until it has left.
    var id: Int?
    /// Whether its body still comes in, whose end is the end of it.
    var isStreaming = false

    init(
      _ request: Request, _ next: Chain, _ subscription: Subscription, _ emit: @escaping Observable<Response>.Next,
      _ begun: Date
    ) {
      (self.request, self.next, self.subscription) = (request, next, subscription)
      (self.emit, self.begun) = (emit, begun)
    }
  }

  private struct State {
    var queue: LimitQueue<Waiting>
    /// Whether a thread starts requests: others leave theirs to it, so that starting never nests.
    var isStarting = false
    var alarm: Date?
  }

  private let scheduler: any SchedulerType
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
    state = Locked(State(queue: LimitQueue(total: maxConcurrent, perHost: maxPerHost, rate: rate, now: scheduler.now)))
  }

  /// Sends `request` when it is its turn.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    Observable(push: { [self] subscription, emit in
      let waiting = Waiting(request, next, subscription, emit, scheduler.now)
      state.withLock { state in
        waiting.id = state.queue.add(
          waiting, origin: limitsHosts ? Origin(request.url) : nil, priority: request.options.priority)
      }
      subscription.own(Disposables.create { [self] in leave(waiting) })
      startWhatMay()
    })
  }

  private func start(_ waiting: Waiting) {
    let waited = scheduler.now.timeIntervalSince(waiting.begun)
    let subscription = waiting.subscription
    waiting.next(waiting.request).run(subscription) { [self] response in
      if let body = response.context[BodyReader.self]?.buffer {
        state.withLock { _ in waiting.isStreaming = true }
        body.whenOver { [self] in leave(waiting, isOver: true) }
      } else {
        // It runs no more: what happens with the response is no affair of the limits.
        leave(waiting)
      }
      var response = response
      response.context[Waited.self] += waited
      try waiting.emit(response)
    }
  }

  private func leave(_ waiting: Waiting, isOver: Bool = false) {
    let hasLeft = state.withLock { state in
      guard isOver || !waiting.isStreaming, let id = waiting.id.take() else { return false }
      _ = state.queue.remove(id)
      return true
    }
    if hasLeft { startWhatMay() }
  }

  private func startWhatMay() {
    while true {
      let now = scheduler.now
      let (first, alarm) = state.withLock { state -> (Waiting?, Date?) in
        guard !state.isStarting else { return (nil, nil) }
        switch state.queue.next(now: now) {
        case .start(let waiting):
          state.isStarting = true
          return (waiting, nil)
        case .wait(let date):
          guard state.alarm != date else { return (nil, nil) }
          state.alarm = date
          return (nil, date)
        case .none:
          return (nil, nil)
        }
      }
      if let alarm { arm(alarm, now) }
      guard let first else { return }
      start(first)
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
  /// How many seconds the request waited for its turn, where interceptors limit how many run.
  public var waited: Double { context[Waited.self] }
}
