extension ObservableType {
  /// Shifts elements and completion by `dueTime`; an error comes at once and drops what is on its way.
  ///
  ///     source:   -a--b--|
  ///     delay(2): ---a--b--|
  @inlinable
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let line = DelayLine(subscription, dueTime, scheduler, next)
      source.run(line) { line.push(.next($0)) }
    })
  }
}

/// The scope above a `delay`: events wait here for their time, in order.
@usableFromInline
final class DelayLine<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `waiting`
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  private let drain = Drain()
  private let timers = CompositeDisposable()
  // Only touched inside the drain.
  private var waiting = Queue<Event<Element>>()

  @usableFromInline
  init(
    _ downstream: Subscription, _ dueTime: Duration, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.scheduler = scheduler
    self.next = next
    super.init(downstream)
    downstream.own(timers)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard let error else { return push(.completed) }
    drain.run { [downstream] in downstream.fail(error) }
  }

  @usableFromInline
  func push(_ event: Event<Element>) {
    drain.run { [self] in waiting.append(event) }
    let slot = SingleAssignmentDisposable()
    let key = timers.insert(slot)
    // Each timer lets the head go, whichever timer it is: order is kept on a concurrent scheduler too.
    slot.setDisposable(
      scheduler.scheduleRelative(dueTime) { [self] in
        if let key { timers.remove(for: key) }
        drain.run { [self] in letHeadGo() }
      })
  }

  private func letHeadGo() {
    guard let event = waiting.popFirst(), !downstream.isStopped else { return }
    switch event {
    case .next(let element): downstream.deliver(element, to: next)
    case .completed: downstream.complete()
    case .error(let error): downstream.fail(error)
    }
  }
}
