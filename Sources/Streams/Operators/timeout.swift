import Synchronization

extension ObservableType {
  /// Fails with `StreamError.timeout` when the first event, or the next after any element, takes longer than `dueTime`.
  ///
  ///                -a--b-------c-|
  ///     timeout(4) -a--b---#
  @inlinable
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let watch = Watchdog(subscription, dueTime, scheduler, next)
      watch.arm()
      source.run(watch) { watch.push($0) }
    })
  }
}

/// The scope above a `timeout`.
@usableFromInline
final class Watchdog<Element: Sendable>: Scope, @unchecked Sendable {  // safe: atomics and an emitter
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let emitter: Emitter<Element>
  // Counts the elements: a timer that lost its race finds another number and is ignored (law 22).
  private let round = Atomic<Int>(0)
  private let timer = SerialDisposable()

  @usableFromInline
  init(
    _ downstream: Subscription, _ dueTime: Duration, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.scheduler = scheduler
    emitter = Emitter(downstream, next)
    super.init(downstream)
    downstream.own(timer)
  }

  @usableFromInline
  func arm() {
    let armed = round.load(ordering: .acquiring)
    timer.disposable = scheduler.scheduleRelative(dueTime) { [self] in
      guard round.compareExchange(expected: armed, desired: armed + 1, ordering: .acquiringAndReleasing).exchanged
      else { return }
      emitter.finish(StreamError.timeout)
    }
  }

  @usableFromInline
  func push(_ element: Element) {
    round.add(1, ordering: .acquiringAndReleasing)
    emitter.onNext(element)
    if !downstream.isStopped { arm() }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    round.add(1, ordering: .acquiringAndReleasing)
    emitter.finish(error)
  }
}
