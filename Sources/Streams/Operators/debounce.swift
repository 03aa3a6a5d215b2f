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

private final class Debounce<Element: Sendable>: TimedScope<Element>, @unchecked Sendable {  // safe: see `drain`
  private var waiting: Element?
  private var silence = Silence()

  func push(_ element: Element) {
    drain.run { [self] in
      waiting = element
      silence.begin(at: scheduler.uptime, for: dueTime)
      if !silence.isTimed { setTimer(dueTime) }
    }
  }

  private func setTimer(_ wait: Duration) {
    silence.setTimer(true)
    arm(wait) { [self] in
      if let rest = silence.rest(at: scheduler.uptime, of: dueTime) { setTimer(rest) } else { emit() }
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
