extension ObservableType {
  /// Emits an element if no other element follows within `dueTime`; on completion, emits the pending element.
  ///
  ///     source:      -a-b----c|
  ///     debounce(2): -----b---(c|)
  public func debounce(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let timing = Debounce(subscription, dueTime, scheduler, next)
      source.run(timing) { timing.push($0) }
    })
  }
}

/// The scope above a `debounce`.
private final class Debounce<Element: Sendable>: TimedScope<Element>, @unchecked Sendable {  // safe: see `drain`
  private var waiting: Element?
  // The end of the silence after the last element, and the end for which the only timer is set. A timer for each element
  // would cost more than the element.
  private var deadline = Duration.zero
  private var armed: Duration?

  func push(_ element: Element) {
    drain.run { [self] in
      waiting = element
      deadline = scheduler.uptime + dueTime
      if armed == nil { arm(dueTime) }
    }
  }

  private func arm(_ wait: Duration) {
    armed = deadline
    arm(wait) { [self] in fire() }
  }

  private func fire() {
    let isDue = armed == deadline
    armed = nil
    let now = isDue ? deadline : scheduler.uptime
    if now >= deadline { return emit() }
    // Setting the clock back must not extend the wait.
    deadline = Swift.min(deadline, now + dueTime)
    arm(deadline - now)
  }

  override func terminated(_ error: (any Error)?) {
    drain.run { [self] in
      if error == nil { emit() }
      downstream.finish(error)
    }
  }

  private func emit() {
    if let element = waiting.take() { downstream.deliverIfActive(element, to: next) }
  }
}
