import Synchronization

extension ObservableType {
  /// Fails with `StreamError.timeout` if the first event, or the next event after an element, takes longer than
  /// `dueTime`.
  ///
  /// This operator does not pass backpressure from a loop over `values` to the source, because the pause would count
  /// as silence. The elements that the loop has not requested are buffered in memory.
  ///
  ///     source:     -a--b-------c-|
  ///     timeout(4): -a--b---#
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    timeout(dueTime, scheduler: scheduler, error: StreamError.timeout)
  }

  /// - Parameter isSingle: Whether the element of the source is its result, so that no limit applies behind it, and no element is
  ///   emitted behind the end of the limit (contract, law 29).
  func timeout(
    _ dueTime: Duration, scheduler: any SchedulerType, error: any Error, isSingle: Bool = false
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let watch = Timeout(subscription, dueTime, scheduler, error, isSingle, next)
      watch.arm()
      source.run(watch) { watch.push($0) }
    })
  }
}

extension ObservableType {
  /// Continues with `other` if the first event, or the next event after an element, takes longer than `dueTime`.
  ///
  ///     source:            -a--b-------c-|
  ///     timeout(4, other): -a--b----x-|    continues with -x-|
  public func timeout(
    _ dueTime: Duration, other: Observable<Element>, scheduler: any SchedulerType
  ) -> Observable<Element> { timeout(dueTime, other: other, scheduler: scheduler, isSingle: false) }

  func timeout(
    _ dueTime: Duration, other: Observable<Element>, scheduler: any SchedulerType, isSingle: Bool
  ) -> Observable<Element> {
    timeout(dueTime, scheduler: scheduler, error: TimedOut(), isSingle: isSingle)
      .catchError { error in
        guard error is TimedOut else { throw error }
        return other
      }
  }
}

/// An error that distinguishes a timeout of this operator from a timeout of the source.
private struct TimedOut: Error {}

/// The scope above a `timeout`.
private final class Timeout<Element: Sendable>: Scope, @unchecked Sendable {  // safe: atomics and an emitter
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let error: any Error
  private let isSingle: Bool
  private let emitter: Emitter<Element>
  // The number of elements so far. A late timer finds another number and is ignored (contract, law 22).
  private let round = Atomic<Int>(0)
  private let timer = SerialDisposable()

  init(
    _ downstream: Subscription, _ dueTime: Duration, _ scheduler: any SchedulerType,
    _ error: any Error, _ isSingle: Bool, _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.scheduler = scheduler
    self.error = error
    self.isSingle = isSingle
    emitter = Emitter(downstream, next)
    super.init(downstream)
    downstream.own(timer)
  }

  func arm() {
    let armed = round.load(ordering: .acquiring)
    timer.disposable = scheduler.scheduleRelative(dueTime) { [self] in
      guard round.compareExchange(expected: armed, desired: armed + 1, ordering: .acquiringAndReleasing).exchanged
      else { return }
      emitter.finish(self.error)
    }
  }

  func push(_ element: Element) {
    if isSingle { return pushResult(element) }
    round.add(1, ordering: .acquiringAndReleasing)
    emitter.onNext(element)
    arm()
  }

  /// Emits the only element, unless the limit has ended before.
  private func pushResult(_ element: Element) {
    guard round.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged else { return }
    emitter.onNext(element)
  }

  // A source that paused for the loop downstream would be silent, so the operator would time out.
  override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool { true }
  override var loop: Subscription? { nil }

  override func terminated(_ error: (any Error)?) { emitter.finish(error) }
}
