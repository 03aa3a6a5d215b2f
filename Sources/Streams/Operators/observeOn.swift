extension ObservableType {
  /// Delivers the events on `scheduler`, in order, errors included, one at a time even if that is concurrent; what is
  /// queued when the subscription is disposed is dropped (law 20).
  ///
  /// Events move in batches: one hop for all that have gathered.
  @inlinable
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let hop = ObserveOn(subscription, scheduler, next)
      source.run(hop) { hop.push($0) }
    })
  }
}

/// The scope above an `observeOn`: a queue between two threads.
@usableFromInline
final class ObserveOn<Element: Sendable>: Subscription, @unchecked Sendable {  // safe: a mutex, and see `spare`
  @usableFromInline
  struct State {
    @usableFromInline var events: [Element] = []
    @usableFromInline var end: (any Error)??
    @usableFromInline var scheduled = false

    @usableFromInline init() {}
  }

  @usableFromInline let downstream: Subscription
  @usableFromInline let scheduler: any ImmediateSchedulerType
  @usableFromInline let next: Observable<Element>.Next
  // Guards the waiting batch, the end and whether a run is scheduled: the source fills it, the run swaps it out.
  @usableFromInline let state = Locked(State())
  @usableFromInline let hop = SerialDisposable()
  // The emptied buffer of the batch before; only the one scheduled run touches it.
  @usableFromInline var spare: [Element] = []

  @inlinable
  init(_ downstream: Subscription, _ scheduler: any ImmediateSchedulerType, _ next: @escaping Observable<Element>.Next)
  {
    self.downstream = downstream
    self.scheduler = scheduler
    self.next = next
    super.init()
    downstream.own(self)
    downstream.own(hop)
  }

  @inlinable
  func push(_ element: Element) {
    let start = state.withLock { state in
      state.events.append(element)
      if state.scheduled { return false }
      state.scheduled = true
      return true
    }
    if start { schedule() }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    let start = state.withLock { state in
      state.end = .some(error)
      if state.scheduled { return false }
      state.scheduled = true
      return true
    }
    if start { schedule() }
  }

  @inlinable
  func schedule() {
    hop.disposable = scheduler.schedule { [self] in deliverAll() }
  }

  @inlinable
  func deliverAll() {
    while true {
      var batch = spare
      spare = []
      let end: (any Error)?? = state.withLock { state in
        swap(&batch, &state.events)
        if batch.isEmpty && state.end == nil { state.scheduled = false }
        return batch.isEmpty ? state.end : nil
      }
      if batch.isEmpty {
        if let end { downstream.finish(end) }
        return
      }
      for element in batch {
        if downstream.isStopped { return }
        downstream.deliver(element, to: next)
      }
      batch.removeAll(keepingCapacity: true)
      spare = batch
    }
  }
}
