import Synchronization

/// The machinery of the subjects: what has been accepted, who listens, and who delivers.
///
/// One lock orders everything: an element that is accepted enters the buffer and gets a number. One thread at a time
/// sends, outside the lock; what others accept meanwhile waits in `queued` for it. A listener gets the buffer as it was
/// when the listener joined, and on its own thread whatever is accepted until it has caught up; it is live then, and the
/// sender delivers to it what has a later number (law 25).
@usableFromInline
final class SubjectCore<Element: Sendable>: @unchecked Sendable {  // safe: `audience` belongs to the thread that sends
  @usableFromInline
  struct State {
    @usableFromInline var buffer = Queue<Element>()
    @usableFromInline var roster = Roster<Listener>()
    // How many of the roster still get the buffer.
    @usableFromInline var replaying = 0
    // Accepted while a thread is sending.
    @usableFromInline var queued = Queue<Event<Element>>()
    // The number of the last event accepted.
    @usableFromInline var accepted = 0
    // The end as accepted; the roster ends when that is sent.
    @usableFromInline var end: (any Error)??

    @inlinable init() {}
  }

  /// An observer, and the events that wait while it gets the buffer.
  @usableFromInline
  final class Listener: @unchecked Sendable {  // safe: `waiting` is touched under the core's lock
    @usableFromInline let subscription: Subscription
    @usableFromInline let next: Observable<Element>.Next
    // The number of the last event that is not the sender's to deliver: all while the buffer is replayed. Written under
    // the core's lock, read by the sender.
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

  /// Those who listened when the roster was last looked at; an object, so that sending counts no references.
  @usableFromInline
  final class Audience: Sendable {
    @usableFromInline let members: [(id: UInt64, value: Listener)]

    @inlinable
    init(_ members: [(id: UInt64, value: Listener)]) { self.members = members }
  }

  /// What the caller has to do for an event that it brought.
  @usableFromInline
  enum Turn {
    case nothing
    /// It is the sender, of this event.
    case send
    /// It is the sender, of what is queued.
    case runQueued
  }

  // Guards the state and the listeners' `waiting`; events are sent outside.
  @usableFromInline let state = Locked(State())
  // The event that is being sent, those queued, and the departures meanwhile; whoever raises it from 0 is the sender. With a
  // buffer it is raised under the lock only.
  @usableFromInline let pending = Atomic<Int>(0)
  // Whether the roster has changed since the audience was taken from it; raised under the lock, lowered by the sender.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Not checked at run time: only the sender, or the lock's holder when there is none, touches it.
  @exclusivity(unchecked) @usableFromInline var audience: Audience?
  @usableFromInline let capacity: Int
  // Whether observers that come after the end still get the buffer before that.
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

  /// The element accepted last, the number of the last event, and how the subject has ended, if it has.
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

  /// Accepts `element`, and sends it or leaves that to the thread that is sending; does nothing after the end.
  @inlinable
  func onNext(_ element: Element) {
    // With nothing to remember there is no need of the lock either.
    guard capacity == 0, pending.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged else {
      _ = accept(element, after: nil)
      return
    }
    if isStale.load(ordering: .acquiring) { refresh() }
    send(element, .max)
    leave()
  }

  /// Accepts `element` if the last event still has the given number, or whatever that is for `nil`.
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

  /// Numbers `event`, gives it to those that still get the buffer, and queues it if a thread is sending.
  @inlinable @inline(__always)
  func enter(_ state: inout State, _ event: Event<Element>) -> Turn {
    state.accepted += 1
    if state.replaying > 0 { Self.leaveToReplaying(&state, event) }
    // Only the lock's holder raises it from 0.
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

  /// Takes the audience from the roster; called by the sender.
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
    // The audience stays as it is while this thread is the sender, so that no call needs to retain anything.
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

  /// Ceases to be the sender, unless something has come meanwhile.
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
      case nil: break  // somebody has left
      }
    } while pending.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }

  @inlinable
  func asObservable() -> Observable<Element> {
    Observable(push: { [self] subscription, next in add(subscription, next) })
  }

  @inlinable
  func add(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    // Without a buffer there is nothing to wait for, and even what is queued is still to come.
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

  /// Delivers what has been accepted during the replay; when nothing is left, the listener is live.
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
      // Nobody is sending, or the sender looks at the roster when it is done.
      let isSender = pending.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0
      let former = isSender ? audience.take() : nil
      isStale.store(true, ordering: .releasing)
      let listener = state.roster.leave(id)
      if let listener { goLive(listener, &state) }
      // Nobody can have queued meanwhile, as that takes the lock: a sender that came now would find its element sent by
      // whoever leaves.
      if isSender { pending.store(0, ordering: .releasing) }
      return (listener, former)
    }
    withExtendedLifetime((listener, former)) {}  // released outside the lock
  }
}

/// Takes a listener off the roster of a subject. Weak: a subject that goes away releases its observers, whether they were
/// disposed or not. Not generic, with a closure that is: that one is specialized, where a method of a generic class is not.
@usableFromInline
final class Departure: Disposable, @unchecked Sendable {  // safe: a weak reference is read atomically
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
