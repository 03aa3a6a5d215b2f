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

  /// - Parameter isSingle: Whether the element of the source is its result, so that no limit applies after it, and no element is
  ///   emitted after the limit has passed (contract, law 29).
  func timeout(
    _ dueTime: Duration, scheduler: any SchedulerType, error: any Error, isSingle: Bool = false
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let watch = Timeout(subscription, dueTime, scheduler, error, isSingle, next)
      watch.start()
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

private final class Timeout<Element: Sendable>: Scope, @unchecked Sendable {  // safe: a lock and an emitter
  private enum Phase {
    /// The limit is running.
    case waiting
    /// An element is being processed downstream, which is not silence.
    case processing
    /// The limit has ended, or no longer applies.
    case ended
  }

  private struct State {
    var phase = Phase.waiting
    var silence = Silence()
  }

  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let error: any Error
  private let isSingle: Bool
  private let emitter: Emitter<Element>
  // Guards the limit, which elements and the timer change. The timer is set, and events are emitted, outside it.
  private let state = Locked(State())
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

  func start() {
    let now = scheduler.uptime
    state.withLock {
      $0.silence.begin(at: now, for: dueTime)
      $0.silence.setTimer(true)
    }
    arm(dueTime)
  }

  private func arm(_ wait: Duration) {
    timer.disposable = scheduler.scheduleRelative(wait) { [self] in fire() }
  }

  /// Ends the limit, or sets the timer again if there was an element in the meantime.
  private func fire() {
    let now = scheduler.uptime
    let (isOver, wait) = state.withLock { state -> (Bool, Duration?) in
      switch state.phase {
      case .ended: return (false, nil)
      case .processing:
        state.silence.setTimer(false)
        return (false, dueTime)
      case .waiting:
        // A late timer is set for another deadline, and is ignored (contract, law 22).
        let rest = state.silence.rest(at: now, of: dueTime)
        if rest == nil { state.phase = .ended }
        return (rest == nil, rest)
      }
    }
    if isOver { emitter.finish(error) } else if let wait { arm(wait) }
  }

  func push(_ element: Element) {
    guard enter(isSingle ? .ended : .processing) else { return }
    emitter.onNext(element)
    if isSingle { return }
    let now = scheduler.uptime
    state.withLock { state in
      guard state.phase != .ended else { return }
      state.phase = .waiting
      state.silence.begin(at: now, for: dueTime)
    }
  }

  /// Begins to process an element, unless the time limit has passed.
  private func enter(_ phase: Phase) -> Bool {
    state.withLock { state in
      guard state.phase != .ended else { return false }
      state.phase = phase
      return true
    }
  }

  // A source that paused for the loop downstream would be silent, so the operator would time out.
  override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool { true }
  override var loop: Subscription? { nil }

  override func terminated(_ error: (any Error)?) { emitter.finish(error) }
}
