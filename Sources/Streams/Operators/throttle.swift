extension ObservableType {
  /// Emits at most one element in each `dueTime`: the first at once; with `latest`, also the last of those that came
  /// meanwhile, when the time is over.
  ///
  ///     source:                  -abc-----d-|
  ///     throttle(3):             -a--c----d-|
  ///     throttle(3, not latest): -a-------d-|
  @inlinable
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
@usableFromInline
final class Throttle<Element: Sendable>: Scope, @unchecked Sendable {  // safe: the state is touched inside the drain
  private let dueTime: Duration
  private let latest: Bool
  private let scheduler: any SchedulerType
  private let next: Observable<Element>.Next
  private let drain = Drain()
  private let timer = SerialDisposable()
  private var waiting: Element?
  private var isClosed = false
  private var isEnding = false

  @usableFromInline
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

  @usableFromInline
  func push(_ element: Element) {
    drain.run { [self] in
      if !isClosed {
        close()
        downstream.deliver(element, to: next)
      } else if latest {
        waiting = element
      }
    }
  }

  /// Starts the time in which nothing is emitted.
  private func close() {
    isClosed = true
    timer.disposable = scheduler.scheduleRelative(dueTime) { [self] in
      drain.run { [self] in reopen() }
    }
  }

  private func reopen() {
    isClosed = false
    if let element = waiting.take(), !downstream.isStopped {
      if !isEnding { close() }
      downstream.deliver(element, to: next)
    }
    if isEnding { downstream.complete() }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    drain.run { [self] in
      // The last element keeps its time, and the completion follows it.
      if error == nil && waiting != nil { isEnding = true } else { downstream.finish(error) }
    }
  }
}
