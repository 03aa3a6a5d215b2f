extension ObservableType {
  /// Emits the latest element each time `sampler` emits, if there is a new element.
  ///
  /// After the source has completed, the pending element is emitted at the next sample, and the stream completes. It
  /// also completes when the sampler completes (contract, law 16).
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

/// The latest element of a `sample`.
private final class Sample<Element: Sendable>: @unchecked Sendable {  // safe: the state is used only inside the drain
  private let downstream: Subscription
  private let next: Observable<Element>.Next
  // Serializes source and sampler, and guards all mutable state.
  private let drain = Drain()
  private var latest: Element?
  private var sourceHasEnded = false

  init(_ downstream: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.downstream = downstream
    self.next = next
  }

  func put(_ element: Element) {
    drain.run { [self] in latest = element }
  }

  func tick() {
    drain.run { [self] in
      emit()
      if sourceHasEnded { downstream.complete() }
    }
  }

  func sourceEnded(_ error: (any Error)?) {
    drain.run { [self] in
      if let error { return downstream.fail(error) }
      sourceHasEnded = true
      if latest == nil { downstream.complete() }
    }
  }

  func ticksEnded(_ error: (any Error)?) {
    drain.run { [self] in
      if error == nil { emit() }
      downstream.finish(error)
    }
  }

  private func emit() {
    if let element = latest.take() { downstream.deliverIfActive(element, to: next) }
  }
}
