/// What the subjects that remember share: a buffer and a roster that change together under one lock (law 25).
final class ReplayCore<Element: Sendable>: Sendable {
  private struct State {
    var buffer = Queue<Element>()
    var roster = Roster<Emitter<Element>>()
  }

  private let drain = Drain()
  private let state = Locked(State())
  private let capacity: Int
  // Whether observers that come after the end still get the buffer before that.
  private let replaysAfterEnd: Bool

  init(_ elements: [Element], capacity: Int, replaysAfterEnd: Bool) {
    self.capacity = capacity
    self.replaysAfterEnd = replaysAfterEnd
    state.withLock { state in
      for element in elements { state.buffer.append(element) }
    }
  }

  var hasObservers: Bool { state.withLock { !$0.roster.members.isEmpty } }

  /// The newest element, and how the subject has ended, if it has.
  var latest: (element: Element?, end: (any Error)??) {
    state.withLock { ($0.buffer.elements.last, $0.roster.ended) }
  }

  func onNext(_ element: Element) {
    if drain.tryEnter() {
      send(element)
      drain.exit()
    } else {
      drain.enqueue { [self] in send(element) }
    }
  }

  private func send(_ element: Element) {
    let (observers, dropped) = state.withLock { state -> ([(id: UInt64, value: Emitter<Element>)], Element?) in
      guard state.roster.ended == nil else { return ([], nil) }
      guard capacity > 0 else { return (state.roster.members, nil) }
      let dropped = state.buffer.count == capacity ? state.buffer.popFirst() : nil
      state.buffer.append(element)
      return (state.roster.members, dropped)
    }
    withExtendedLifetime(dropped) {}  // released outside the lock
    // Each observer has a queue of its own, where live elements wait while it gets the remembered ones.
    for observer in observers { observer.value.onNext(element) }
  }

  func finish(_ error: (any Error)?) {
    drain.run { [self] in
      let observers = state.withLock { $0.roster.end(error) }
      for observer in observers { observer.value.finish(error) }
    }
  }

  func add(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    let emitter = Emitter(subscription, next)
    // Nobody else knows the emitter yet, so this goes inside; live events then queue until the replay is over.
    guard emitter.drain.tryEnter() else { return }
    defer { emitter.drain.exit() }
    let (joined, elements) = state.withLock { ($0.roster.join(emitter), $0.buffer.elements) }
    if case .joined(let id) = joined {
      subscription.own(
        Disposables.create { [weak self] in
          let left = self?.state.withLock { $0.roster.leave(id) }
          withExtendedLifetime(left) {}  // released outside the lock
        })
    } else if !replaysAfterEnd {
      return end(subscription, joined)
    }
    for element in elements {
      if subscription.isStopped { return }
      subscription.deliver(element, to: next)
    }
    end(subscription, joined)
  }

  private func end(_ subscription: Subscription, _ joined: Roster<Emitter<Element>>.Joined) {
    if case .ended(let error) = joined { subscription.finish(error) }
  }
}
