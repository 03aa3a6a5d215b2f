import Synchronization

/// A stream fed by hand that remembers its last element: each observer gets that first, then what is sent later.
///
/// The remembered element is delivered inside `subscribe`, outside any lock, and strictly before live ones, none lost
/// and none twice (law 25). May be fed from several threads at once and re-entrantly (laws 2 and 3). After its end,
/// observers get that end only (law 26).
public final class BehaviorSubject<Element: Sendable>: SubjectType {
  private struct State {
    var value: Element
    var roster = Roster<Emitter<Element>>()
  }

  private let drain = Drain()
  private let state: Locked<State>

  /// A subject that remembers `value`.
  public init(value: Element) { state = Locked(State(value: value)) }

  /// Whether anybody is subscribed.
  public var hasObservers: Bool { state.withLock { !$0.roster.members.isEmpty } }

  /// The last element.
  ///
  /// - Throws: the error with which the subject ended, if it did.
  public func value() throws -> Element {
    try state.withLock { state in
      if case .some(.some(let error)) = state.roster.ended { throw error }
      return state.value
    }
  }

  /// Takes one event.
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element):
      if drain.tryEnter() {
        send(element)
        drain.exit()
      } else {
        drain.enqueue { [self] in send(element) }
      }
    case .error(let error): finish(error)
    case .completed: finish(nil)
    }
  }

  private func send(_ element: Element) {
    let observers = state.withLock { state in
      if state.roster.ended == nil { state.value = element }
      return state.roster.members
    }
    // Each observer has a queue of its own, where live elements wait while it gets the remembered one.
    for observer in observers { observer.value.onNext(element) }
  }

  private func finish(_ error: (any Error)?) {
    drain.run { [self] in
      let observers = state.withLock { $0.roster.end(error) }
      for observer in observers { observer.value.finish(error) }
    }
  }

  /// The subject as a stream that cannot be fed.
  public func asObservable() -> Observable<Element> {
    Observable(push: { [self] subscription, next in
      let emitter = Emitter(subscription, next)
      guard emitter.drain.tryEnter() else { return }
      defer { emitter.drain.exit() }
      let (joined, value) = state.withLock { ($0.roster.join(emitter), $0.value) }
      switch joined {
      case .ended(let error): subscription.finish(error)
      case .joined(let id):
        subscription.own(
          Disposables.create { [weak self] in
            let left = self?.state.withLock { $0.roster.leave(id) }
            _ = left  // released outside the lock
          })
        subscription.deliver(value, to: next)
      }
    })
  }
}
