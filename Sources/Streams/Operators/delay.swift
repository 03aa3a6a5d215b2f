extension ObservableType {
  /// Shifts elements and completion by `dueTime`; an error comes at once and drops what is on its way.
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

/// The scope above a `delay`: events wait here for their time, in order, and one timer waits for the first of them.
private final class Delay<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `drain`
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  // Serializes source and timer, and guards all that varies.
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
    // Read here: the time inside the drain may be later.
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

  /// Lets the first event go, and all that are due by the clock.
  private func letGo() {
    var time = scheduler.uptime
    // The timer decides for the first, so that a clock that was set back does not hold it.
    if let first = waiting.first { time = Swift.max(time, first.due) }
    while let (event, due) = waiting.first {
      guard !downstream.isStopped else { return }
      // A clock that was set back must not make the wait longer.
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
