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
private final class Delay<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `drain`
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  // Serializes source and timer, and guards all mutable state.
  private let drain = Drain()
  private let timer = SerialDisposable()
  private var waiting = Queue<(event: Event<Element>, due: Duration)>()

  init(
    _ downstream: Subscription, _ dueTime: Duration, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.scheduler = scheduler
    self.next = next
    super.init(downstream)
    downstream.own(timer)
  }

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

  private func arm(_ wait: Duration) {
    timer.disposable = scheduler.scheduleRelative(wait) { [self] in
      drain.run { [self] in letGo() }
    }
  }

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
