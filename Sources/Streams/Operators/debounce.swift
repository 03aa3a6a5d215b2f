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
  /// The time of the last element.
  private var last = Duration.zero
  /// Whether the timer runs. It keeps running when an element follows, and then runs again for the rest: a timer for each
  /// element costs 30 times as much.
  private var isArmed = false

  func push(_ element: Element) {
    drain.run { [self] in
      waiting = element
      last = scheduler.uptime
      if !isArmed { wait(for: dueTime) }
    }
  }

  private func wait(for time: Duration) {
    isArmed = true
    arm(time) { [self] in
      isArmed = false
      guard waiting != nil else { return }
      let rest = dueTime - (scheduler.uptime - last)
      if rest > .zero { wait(for: rest) } else { emit() }
    }
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
