extension ObservableType {
  /// Collects elements into arrays, and emits each array when it has `count` elements or after `timeSpan`.
  ///
  /// Arrays that are emitted after `timeSpan` may be empty. On completion, the collected elements are emitted. If
  /// `timeSpan` is zero or negative, only `count` applies.
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

@usableFromInline
final class Buffer<Element: Sendable>: TimedScope<[Element]>, @unchecked Sendable {
  // Safe: the state is used only inside the drain, so no run-time exclusivity checks are needed.
  @usableFromInline let count: Int
  // Row buffer.
  @exclusivity(unchecked) @usableFromInline var gathered: [Element] = []

  @usableFromInline
  init(
    _ downstream: Subscription, _ timeSpan: Duration, _ count: Int, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<[Element]>.Next
  ) {
    self.count = count
    super.init(downstream, timeSpan, scheduler, next)
  }

  @usableFromInline
  func start() {
    drain.run { [self] in arm() }
  }

  private func arm() {
    if dueTime > .zero { arm(dueTime) { [self] in emit() } }
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
    drain.run { [self] in gather(element) }
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
