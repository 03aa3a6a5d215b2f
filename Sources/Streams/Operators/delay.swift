extension ObservableType {
  /// Delays elements and completion by `dueTime`; an error is forwarded immediately and drops the pending elements.
  ///
  ///     source:   -a--b--|
  ///     delay(2): ---a--b--|
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let line = Delay(subscription, dueTime, scheduler, next)
      source.run(line) { line.push(.next($0)) }
    })
  }
}

/// The scope above a `delay`: a queue of events in order, and one timer for the first event.
private final class Delay<Element: Sendable>: TimedScope<Element>, @unchecked Sendable {  // safe: see `drain`
  private var waiting = Queue<(event: Event<Element>, due: Duration)>()

  override func terminated(_ error: (any Error)?) {
    guard let error else { return push(.completed) }
    drain.run { [downstream] in downstream.fail(error) }
  }

  func push(_ event: Event<Element>) {
    // Read the clock here, because the drain may run later.
    let due = scheduler.uptime + dueTime
    drain.run { [self] in
      waiting.append((event, due))
      if waiting.count == 1 { arm(dueTime) }
    }
  }

  private func arm(_ wait: Duration) { arm(wait) { [self] in letGo() } }

  /// Delivers the first event, and all others that are due by the clock.
  private func letGo() {
    var time = scheduler.uptime
    // The timer determines when the first event is due, so that setting the clock back does not delay it.
    if let first = waiting.first { time = Swift.max(time, first.due) }
    while let (event, due) = waiting.first {
      guard !downstream.isStopped else { return }
      // Setting the clock back must not extend the wait.
      guard due <= time else { return arm(Swift.min(due - time, dueTime)) }
      _ = waiting.popFirst()
      switch event {
      case .next(let element): downstream.deliver(element, to: next)
      case .completed: downstream.complete()
      case .error(let error): downstream.fail(error)
      }
    }
  }
}
