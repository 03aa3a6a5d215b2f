extension ObservableType {
  /// Gathers elements into arrays: each is emitted when it has `count` elements or `timeSpan` after the one before,
  /// whichever is first, even if empty; on completion, what is there. With no time span only the count closes them.
  ///
  ///     source:             -a-b-c----d-|
  ///     buffer(4, count 2): ---A---B---C(D|)    A = [a, b], B = [c], C = [d], D = []
  @inlinable
  public func buffer(
    timeSpan: Duration, count: Int, scheduler: any SchedulerType
  ) -> Observable<[Element]> {
    let source = asObservable()
    return Observable<[Element]>(push: { subscription, next in
      let gathering = Buffer(subscription, timeSpan, Swift.max(1, count), scheduler, next)
      gathering.start()
      source.run(gathering) { gathering.push($0) }
    })
  }
}

/// The scope above a `buffer`.
@usableFromInline
final class Buffer<Element: Sendable>: Scope, @unchecked Sendable {
  // Safe: the state is touched inside the drain, so that no access needs to be checked at run time.
  private let timeSpan: Duration
  @usableFromInline let count: Int
  private let scheduler: any SchedulerType
  private let next: Observable<[Element]>.Next
  // Serializes source and timer, and guards all that varies.
  @usableFromInline let drain = Drain()
  private let timer = SerialDisposable()
  @exclusivity(unchecked) @usableFromInline var gathered: [Element] = []
  // Numbers the arrays: a timer that lost its race finds another one and is ignored (law 22).
  private var id = 0

  @usableFromInline
  init(
    _ downstream: Subscription, _ timeSpan: Duration, _ count: Int, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<[Element]>.Next
  ) {
    self.timeSpan = timeSpan
    self.count = count
    self.scheduler = scheduler
    self.next = next
    super.init(downstream)
    downstream.own(timer)
  }

  @usableFromInline
  func start() {
    drain.run { [self] in arm() }
  }

  private func arm() {
    guard timeSpan > .zero else { return }
    id += 1
    let armed = id
    timer.disposable = scheduler.scheduleRelative(timeSpan) { [self] in
      drain.run { [self] in if id == armed { emit() } }
    }
  }

  @usableFromInline
  func emit() {
    guard !downstream.isStopped else { return }
    let full = gathered
    gathered = []
    gathered.reserveCapacity(full.count)
    arm()
    downstream.deliver(full, to: next)
  }

  @inlinable
  func push(_ element: Element) {
    drain.run(self, element) { $0.gather($1) }
  }

  @inlinable
  func gather(_ element: Element) {
    gathered.append(element)
    if gathered.count == count { emit() }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    drain.run { [self] in
      if error == nil, !downstream.isStopped { downstream.deliver(gathered, to: next) }
      downstream.finish(error)
    }
  }
}
