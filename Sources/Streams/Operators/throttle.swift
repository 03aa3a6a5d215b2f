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

private final class Throttle<Element: Sendable>: TimedScope<Element>, @unchecked Sendable {  // safe: see `drain`
  private let latest: Bool
  private var waiting: Element?
  // The end of the current period according to the clock, because the timer may be late.
  private var reopening: Duration?
  private var isEnding = false

  init(
    _ downstream: Subscription, _ dueTime: Duration, _ latest: Bool, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.latest = latest
    super.init(downstream, dueTime, scheduler, next)
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
    disarm()
    waiting = nil
    reopening = now + dueTime
    downstream.deliverIfActive(element, to: next)
  }

  private func arm(_ wait: Duration) {
    // Setting the clock back must not extend the wait.
    arm(Swift.min(wait, dueTime)) { [self] in reopen() }
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
