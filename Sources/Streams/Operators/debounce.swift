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
private final class Debounce<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `drain`
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  // Serializes source and timer, and guards all mutable state.
  private let drain = Drain()
  private let timer = SerialDisposable()
  private var waiting: Element?
  // The number of the current element. A late timer finds another number and is ignored (contract, law 22).
  private var id = 0

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

  func push(_ element: Element) {
    drain.run { [self] in
      waiting = element
      id += 1
      let armed = id
      timer.disposable = scheduler.scheduleRelative(dueTime) { [self] in
        drain.run { [self] in if id == armed { emit() } }
      }
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
