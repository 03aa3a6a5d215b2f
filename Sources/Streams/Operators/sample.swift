extension ObservableType {
  /// Emits the latest element each time `sampler` emits, if there is a new element.
  ///
  /// The stream completes when the sampler does, after the pending element (contract, law 16). It also completes when
  /// the source does: immediately, or with the next sample if an element is pending.
  ///
  ///     source:  -a-b---c-|
  ///     sampler: ----x-x-x--x
  ///     sample:  ----b---c|
  public func sample<Sampler: ObservableConvertibleType>(_ sampler: Sampler) -> Observable<Element> {
    let source = asObservable()
    let ticks = sampler.asObservable()
    return Observable(push: { subscription, next in
      let sampling = Sample(subscription, next)
      let sourceScope = HandlerScope(subscription) { sampling.sourceEnded($0) }
      source.run(sourceScope) { sampling.put($0) }
      let tickScope = HandlerScope(subscription, waits: false) { sampling.ticksEnded($0) }
      ticks.run(tickScope) { _ in sampling.tick() }
    })
  }
}

private final class Sample<Element: Sendable>: Sendable {
  private struct State {
    var latest: Element?
    // The number of elements that samples have taken, and that are not delivered yet.
    var waiting = 0
    var sourceHasEnded = false

    var isOver: Bool { sourceHasEnded && latest == nil && waiting == 0 }
  }

  private let downstream: Subscription
  private let next: Observable<Element>.Next
  // Serializes the samples and the ends.
  private let drain = Drain()
  // Not in the drain: while the observer is busy, elements of the source replace one another instead of waiting.
  private let state = Locked(State())

  init(_ downstream: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.downstream = downstream
    self.next = next
  }

  func put(_ element: Element) { state.release { exchange(&$0.latest, with: element) } }

  func tick() {
    guard let element = take() else { return }
    drain.run { [self] in deliver(element) }
  }

  func sourceEnded(_ error: (any Error)?) {
    let isOver = state.withLock { state in
      state.sourceHasEnded = true
      return state.isOver
    }
    if isOver || error != nil { drain.run { [downstream] in downstream.finish(error) } }
  }

  func ticksEnded(_ error: (any Error)?) {
    let last = error == nil ? take() : nil
    drain.run { [self] in
      if let last { deliver(last) }
      downstream.finish(error)
    }
  }

  /// Takes the latest element for a delivery.
  private func take() -> Element? {
    state.withLock { state in
      guard let element = state.latest.take() else { return nil }
      state.waiting += 1
      return element
    }
  }

  private func deliver(_ element: Element) {
    downstream.deliverIfActive(element, to: next)
    let isOver = state.withLock { state in
      state.waiting -= 1
      return state.isOver
    }
    if isOver { downstream.complete() }
  }
}
