import Synchronization

/// The implementation of the subjects: the accepted events, the observers, and the choice of the delivering thread.
///
/// One lock orders all events: an accepted element enters the buffer and receives a number. One thread at a time sends,
/// outside the lock; events accepted meanwhile wait for that thread in `queued`. A new listener receives the buffer as
/// it was at its subscription, then, on its own thread, all events accepted until it has caught up. From then on it is
/// live, and the sender delivers the events with later numbers to it (contract, law 25).
@usableFromInline
final class SubjectCore<Element: Sendable>: @unchecked Sendable {  // safe: only the sending thread uses `audience`
  @usableFromInline
  struct State {
    @usableFromInline var buffer = Queue<Element>()
    @usableFromInline var roster = Roster<Listener>()
    // The number of listeners in the roster that are still replaying the buffer.
    @usableFromInline var replaying = 0
    // The events accepted while a thread is sending.
    @usableFromInline var queued = Queue<Event<Element>>()
    // The number of the last accepted event.
    @usableFromInline var accepted = 0
    // The accepted terminal event; the roster records it when it is sent.
    @usableFromInline var end: (any Error)??

    @inlinable init() {}
  }

  /// An observer, and the events that wait while it replays the buffer.
  @usableFromInline
  final class Listener: @unchecked Sendable {  // safe: `waiting` is used only under the lock of the core
    @usableFromInline let subscription: Subscription
    @usableFromInline let next: Observable<Element>.Next
    // The number of the last event that the sender must not deliver to this listener; `.max` during the replay. Written
    // under the lock of the core, read by the sender.
    @usableFromInline let covered: Atomic<Int>
    @usableFromInline var waiting: [Event<Element>] = []

    @inlinable
    init(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next, covered: Int) {
      self.subscription = subscription
      self.next = next
      self.covered = Atomic(covered)
    }

    @inlinable
    func deliver(_ element: Element, _ number: Int) {
      if covered.load(ordering: .acquiring) < number { subscription.deliverIfActive(element, to: next) }
    }

    func deliver(_ event: Event<Element>) {
      switch event {
      case .next(let element): subscription.deliverIfActive(element, to: next)
      case .error(let error): subscription.finish(error)
      case .completed: subscription.finish(nil)
      }
    }
  }

  /// A snapshot of the roster. It is a class, so that sending changes no reference counts.
  @usableFromInline
  final class Audience: Sendable {
    @usableFromInline let members: [(id: UInt64, value: Listener)]

    @inlinable
    init(_ members: [(id: UInt64, value: Listener)]) { self.members = members }
  }

  /// The task of the caller after its event has been accepted.
  @usableFromInline
  enum Turn {
    case nothing
    /// The caller is the sender, of this event.
    case send
    /// The caller is the sender, of the queued events.
    case runQueued
  }

  // Guards the state and the `waiting` of the listeners; events are sent outside the lock.
  @usableFromInline let state = Locked(State())
  // The number of events being sent or queued, plus removals meanwhile; the thread that increments it from 0 is the
  // sender. If there is a buffer, it is incremented only under the lock.
  @usableFromInline let pending = Atomic<Int>(0)
  // Whether the roster has changed since the audience was copied from it; set under the lock, cleared by the sender.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Only the sender uses it, or the lock's holder if there is no sender. Rows j, share and share1.
  @exclusivity(unchecked) @usableFromInline var audience: Audience?
  @usableFromInline let capacity: Int
  // Whether observers that subscribe after the terminal event receive the buffer before it.
  @usableFromInline let replaysAfterEnd: Bool

  @inlinable
  init(_ elements: [Element] = [], capacity: Int, replaysAfterEnd: Bool = false) {
    self.capacity = capacity
    self.replaysAfterEnd = replaysAfterEnd
    state.withLock { state in
      for element in elements { state.buffer.append(element) }
    }
  }

  var hasObservers: Bool { state.withLock { !$0.roster.members.isEmpty } }

  /// The last accepted element, the number of the last event, and the terminal event, if there is one.
  var latest: (element: Element?, number: Int, end: (any Error)??) {
    state.withLock { ($0.buffer.last, $0.accepted, $0.end) }
  }

  @inlinable
  func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): onNext(element)
    case .error(let error): finish(error)
    case .completed: finish(nil)
    }
  }

  /// Accepts `element` and sends it, or leaves that to the sending thread; does nothing after the terminal event.
  @inlinable
  func onNext(_ element: Element) {
    // Without a buffer, no lock is needed.
    guard capacity == 0, pending.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged else {
      _ = accept(element, after: nil)
      return
    }
    if isStale.load(ordering: .acquiring) { refresh() }
    send(element, .max)
    leave()
  }

  /// Accepts `element` if the last event has the number `number`; `nil` accepts it unconditionally.
  @inlinable
  func accept(_ element: Element, after number: Int?) -> Bool {
    let (isAccepted, turn, accepted, dropped) = state.withLock { state -> (Bool, Turn, Int, Element?) in
      if let number, number != state.accepted { return (false, .nothing, 0, nil) }
      guard state.end == nil else { return (true, .nothing, 0, nil) }
      var dropped: Element?
      if state.buffer.count < capacity {
        state.buffer.append(element)
      } else if capacity > 0 {
        dropped = state.buffer.rotate(element)
      }
      let turn = enter(&state, .next(element))
      return (true, turn, state.accepted, dropped)
    }
    withExtendedLifetime(dropped) {}  // released outside the lock
    switch turn {
    case .nothing: break
    case .send:
      if isStale.load(ordering: .acquiring) { refresh() }
      send(element, accepted)
      leave()
    case .runQueued: runQueued()
    }
    return isAccepted
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    let turn = state.withLock { state -> Turn in
      guard state.end == nil else { return .nothing }
      state.end = .some(error)
      return enter(&state, error.map { .error($0) } ?? .completed)
    }
    switch turn {
    case .nothing: break
    case .send:
      end(error)
      leave()
    case .runQueued: runQueued()
    }
  }

  /// Numbers `event`, passes it to replaying listeners, and queues it if a thread is sending.
  @inlinable @inline(__always)
  func enter(_ state: inout State, _ event: Event<Element>) -> Turn {
    state.accepted += 1
    if state.replaying > 0 { Self.leaveToReplaying(&state, event) }
    // Only the holder of the lock changes `pending` from 0.
    if capacity > 0, pending.load(ordering: .acquiring) == 0 {
      pending.store(1, ordering: .relaxed)
      return .send
    }
    state.queued.append(event)
    return pending.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 ? .runQueued : .nothing
  }

  @usableFromInline
  static func leaveToReplaying(_ state: inout State, _ event: Event<Element>) {
    for member in state.roster.members where member.value.covered.load(ordering: .relaxed) == .max {
      member.value.waiting.append(event)
    }
  }

  /// Copies the audience from the roster; called by the sender.
  @inlinable @inline(never)
  func refresh() {
    let members = state.withLock { state in
      isStale.store(false, ordering: .relaxed)
      return state.roster.members
    }
    audience = members.isEmpty ? nil : Audience(members)
  }

  @inlinable
  func send(_ element: Element, _ number: Int) {
    // The audience cannot change while this thread is the sender, so no call needs to retain anything.
    guard let audience = audience.map({ Unmanaged.passUnretained($0) }) else { return }
    audience._withUnsafeGuaranteedRef { audience in
      for index in audience.members.indices {
        Unmanaged.passUnretained(audience.members[index].value)._withUnsafeGuaranteedRef { $0.deliver(element, number) }
      }
    }
  }

  private func end(_ error: (any Error)?) {
    let members = state.withLock { $0.roster.end(error) }
    audience = nil
    for member in members where member.value.covered.load(ordering: .acquiring) != .max {
      member.value.subscription.finish(error)
    }
  }

  /// Stops being the sender, or sends the events queued meanwhile.
  @inlinable
  func leave() {
    if pending.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0 { runQueued() }
  }

  @usableFromInline
  func runQueued() {
    repeat {
      let (event, number) = state.withLock { state in
        let number = state.accepted - state.queued.count + 1
        return (state.queued.popFirst(), number)
      }
      if isStale.load(ordering: .acquiring) { refresh() }
      switch event {
      case .next(let element): send(element, number)
      case .error(let error): end(error)
      case .completed: end(nil)
      case nil: break  // an observer was removed
      }
    } while pending.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }

  @inlinable
  func asObservable() -> Observable<Element> {
    Observable(push: { [self] subscription, next in add(subscription, next) })
  }

  @inlinable
  func add(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    // Without a buffer there is nothing to replay, and queued events are still to be delivered.
    let listener = Listener(subscription, next, covered: capacity > 0 ? .max : 0)
    let (id, elements, end) = state.withLock { state -> (UInt64?, [Element], (any Error)??) in
      if let end = capacity > 0 ? state.end : state.roster.ended {
        return (nil, replaysAfterEnd ? state.buffer.elements : [], .some(end))
      }
      isStale.store(true, ordering: .releasing)
      if capacity > 0 { state.replaying += 1 }
      return (state.roster.join(listener), state.buffer.elements, nil)
    }
    if let id {
      subscription.own(Departure(self) { unsafeDowncast($0, to: SubjectCore<Element>.self).remove(id) })
    }
    for element in elements {
      if subscription.isStopped { return }
      subscription.deliver(element, to: next)
    }
    if let end { return subscription.finish(end) }
    if capacity > 0 { catchUp(listener) }
  }

  /// Delivers the events accepted during the replay. When none are left, the listener is live.
  @usableFromInline
  func catchUp(_ listener: Listener) {
    while !listener.subscription.isStopped {
      let batch = state.withLock { state in
        let batch = listener.waiting
        listener.waiting = []
        if batch.isEmpty { goLive(listener, &state) }
        return batch
      }
      if batch.isEmpty { return }
      for event in batch { listener.deliver(event) }
    }
  }

  @usableFromInline
  func goLive(_ listener: Listener, _ state: inout State) {
    guard listener.covered.load(ordering: .relaxed) == .max else { return }
    listener.covered.store(state.accepted, ordering: .releasing)
    state.replaying -= 1
  }

  @inlinable
  func remove(_ id: UInt64) {
    let (listener, former) = state.withLock { state -> (Listener?, Audience?) in
      // No thread is sending, or the sender checks the roster when it has finished.
      let isSender = pending.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0
      let former = isSender ? audience.take() : nil
      isStale.store(true, ordering: .releasing)
      let listener = state.roster.leave(id)
      if let listener { goLive(listener, &state) }
      // No event can have been queued meanwhile, because that requires the lock. Otherwise the removal would have to
      // send it.
      if isSender { pending.store(0, ordering: .releasing) }
      return (listener, former)
    }
    withExtendedLifetime((listener, former)) {}  // released outside the lock
  }
}

/// A disposable that removes a listener from the roster of a subject.
///
/// The reference is weak: a subject that is deallocated releases its observers. The class is not generic but holds a
/// generic closure: the compiler specializes the closure, but not a method of a generic class.
@usableFromInline
final class Departure: Disposable, @unchecked Sendable {  // safe: weak references are read atomically
  private weak var core: AnyObject?
  private let leave: @Sendable (AnyObject) -> Void

  @usableFromInline
  init(_ core: AnyObject, leave: @escaping @Sendable (AnyObject) -> Void) {
    self.core = core
    self.leave = leave
  }

  @usableFromInline
  func dispose() {
    if let core { leave(core) }
  }
}
