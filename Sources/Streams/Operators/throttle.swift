extension ObservableType {
  /// Emits at most one element per `dueTime`: the first element immediately and, with `latest`, the last element that
  /// arrived during the period, at its end.
  ///
  /// The clock of the scheduler measures the period: an element that arrives after its end is emitted even if the timer
  /// is late.
  ///
  ///     source:                  -abc-----d-|
  ///     throttle(3):             -a--c----d-|
  ///     throttle(3, not latest): -a-------d-|
  public func throttle(
    _ dueTime: Duration, latest: Bool = true, scheduler: any SchedulerType
  ) -> Observable<Element> {
    let source = asObservable()
    guard dueTime > .zero else { return source }
    return Observable(push: { subscription, next in
      let timing = Throttle(subscription, dueTime, latest, scheduler, next)
      source.run(timing) { timing.push($0) }
    })
  }
}

/// The scope above a `throttle`.
private final class Throttle<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `drain`
  private let dueTime: Duration
  private let latest: Bool
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  // Serializes source and timer, and guards all mutable state.
  private let drain = Drain()
  private let timer = SerialDisposable()
  private var waiting: Element?
  // The end of the current period according to the clock, because the timer may be late.
  private var reopening: Duration?
  // The number of the current period. A late timer finds another number and is ignored (contract, law 22).
  private var id = 0
  private var isEnding = false

  init(
    _ downstream: Subscription, _ dueTime: Duration, _ latest: Bool, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.latest = latest
    self.scheduler = scheduler
    self.next = next
    super.init(downstream)
    downstream.own(timer)
  }

  func push(_ element: Element) {
    drain.run { [self] in
      let now = scheduler.uptime
      guard let reopening, now < reopening else { return emit(element, now) }
      guard latest else { return }
      if waiting == nil { arm(reopening - now) }
      waiting = element
    }
  }

  private func emit(_ element: Element, _ now: Duration) {
    id += 1
    waiting = nil
    timer.disposable = Disposables.create()
    reopening = now + dueTime
    downstream.deliverIfActive(element, to: next)
  }

  private func arm(_ wait: Duration) {
    let armed = id
    // Setting the clock back must not extend the wait.
    timer.disposable = scheduler.scheduleRelative(Swift.min(wait, dueTime)) { [self] in
      drain.run { [self] in if id == armed { reopen() } }
    }
  }

  private func reopen() {
    if let element = waiting { emit(element, scheduler.uptime) }
    if isEnding { downstream.complete() }
  }

  override func terminated(_ error: (any Error)?) {
    drain.run { [self] in
      // The last element is emitted at the end of its period, followed by the completion.
      if error == nil && waiting != nil { isEnding = true } else { downstream.finish(error) }
    }
  }
}
