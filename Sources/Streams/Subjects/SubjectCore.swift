import Synchronization

/// The implementation of the subjects: one queue of elements, the observers, and the choice of the delivering thread.
///
/// One lock orders all events: an accepted element receives a number and enters the queue. One thread at a time sends,
/// outside the lock, and takes the next elements from the queue. A new listener reads the queue, on its own thread, from
/// the buffer as it was at its subscription to the end. From then on it is live, and the sender delivers the elements
/// with later numbers to it (contract, law 25).
@usableFromInline
final class SubjectCore<Element: Sendable>: @unchecked Sendable {  // safe: only the sending thread uses `audience`
  @usableFromInline
  struct State {
    @usableFromInline var queue: SubjectQueue<Element>
    @usableFromInline var roster = Roster<Listener>()
    // The accepted terminal event; the roster records it when it is sent.
    @usableFromInline var end: (any Error)??

    @inlinable init(_ queue: SubjectQueue<Element>) { self.queue = queue }
  }

  /// An observer.
  @usableFromInline
  final class Listener: Sendable {
    @usableFromInline let subscription: Subscription
    @usableFromInline let next: Observable<Element>.Next
    // The number of the last element that the sender must not deliver to this listener; `.max` during the replay.
    // Written under the lock of the core, read by the sender.
    @usableFromInline let covered: Atomic<Int>

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

    @inlinable
    func replay(_ elements: [Element]) {
      for element in elements {
        if subscription.isStopped { return }
        subscription.deliver(element, to: next)
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

  // Guards the state; events are sent outside the lock.
  @usableFromInline let state: Locked<State>
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
    state = Locked(State(SubjectQueue(elements, capacity: capacity)))
  }

  var hasObservers: Bool { state.withLock { !$0.roster.isEmpty } }

  /// The last accepted element, its number, and the terminal event, if there is one.
  var latest: (element: Element?, number: Int, end: (any Error)??) {
    state.withLock { ($0.queue.elements.last, $0.queue.accepted, $0.end) }
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

  /// Accepts `element` if the last element has the number `number`; `nil` accepts it unconditionally.
  @inlinable
  func accept(_ element: Element, after number: Int?) -> Bool {
    let (isAccepted, turn, accepted, dropped) = state.withLock { state -> (Bool, Turn, Int, Element?) in
      if let number, number != state.queue.accepted { return (false, .nothing, 0, nil) }
      guard state.end == nil else { return (true, .nothing, 0, nil) }
      let dropped = state.queue.append(element)
      let turn = enter()
      if turn == .send { state.queue.sent = state.queue.accepted }
      return (true, turn, state.queue.accepted, dropped)
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
      return enter()
    }
    switch turn {
    case .nothing: break
    case .send:
      end(error)
      leave()
    case .runQueued: runQueued()
    }
  }

  /// Makes the caller the sender if no thread is sending. Called under the lock.
  @inlinable @inline(__always)
  func enter() -> Turn {
    // Only the holder of the lock changes `pending` from 0.
    if capacity > 0, pending.load(ordering: .acquiring) == 0 {
      pending.store(1, ordering: .relaxed)
      return .send
    }
    return pending.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 ? .runQueued : .nothing
  }

  /// Copies the audience from the roster; called by the sender.
  @inlinable @inline(never)
  func refresh() {
    let members = state.withLock { state in
      isStale.store(false, ordering: .relaxed)
      return state.roster.present
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
      let (next, end) = state.withLock { ($0.queue.takeNext(), $0.end) }
      if isStale.load(ordering: .acquiring) { refresh() }
      if let next {
        send(next.element, next.number)
      } else if let end {
        self.end(end)
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
    let (id, unread, end) = state.withLock { state -> (UInt64?, [Element], (any Error)??) in
      if let end = capacity > 0 ? state.end : state.roster.ended {
        return (nil, replaysAfterEnd ? state.queue.stored : [], .some(end))
      }
      isStale.store(true, ordering: .releasing)
      return (state.roster.join(listener), capacity > 0 ? state.queue.read(ObjectIdentifier(listener)) : [], nil)
    }
    if let id {
      subscription.own(Departure(self) { unsafeDowncast($0, to: SubjectCore<Element>.self).remove(id) })
    }
    if let end {
      listener.replay(unread)
      subscription.finish(end)
    } else if capacity > 0 {
      replay(unread, to: listener)
    }
  }

  /// Delivers `unread` and the elements accepted meanwhile. When none are left, the listener is live or terminates.
  @usableFromInline
  func replay(_ unread: [Element], to listener: Listener) {
    var unread = unread
    repeat {
      listener.replay(unread)
      let (more, dropped, end) = state.withLock { state -> ([Element], [Element], (any Error)??) in
        let more = listener.subscription.isStopped ? [] : state.queue.read(ObjectIdentifier(listener))
        guard more.isEmpty else { return (more, state.queue.trim(), nil) }
        listener.covered.store(state.queue.accepted, ordering: .releasing)
        return ([], state.queue.leave(ObjectIdentifier(listener)), state.end)
      }
      withExtendedLifetime(dropped) {}  // released outside the lock
      if let end { listener.subscription.finish(end) }
      unread = more
    } while !unread.isEmpty
  }

  @inlinable
  func remove(_ id: UInt64) {
    let (listener, former) = state.withLock { state -> (Listener?, Audience?) in
      // No thread is sending, or the sender checks the roster when it has finished.
      let isSender = pending.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0
      let former = isSender ? audience.take() : nil
      isStale.store(true, ordering: .releasing)
      let listener = state.roster.leave(id)
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
