import Synchronization

/// The shared machinery of the subjects that remember: what has been accepted, who listens, and who delivers.
///
/// One lock orders everything: an element that is accepted enters the buffer and gets a number. One thread at a time
/// sends, outside the lock; what others accept meanwhile waits in `queued` for it. A listener gets the buffer as it was
/// when the listener joined, and then every event with a later number (law 25), straight from the sender once it is live.
@usableFromInline
final class ReplayCore<Element: Sendable>: Sendable {
  @usableFromInline
  struct State {
    @usableFromInline var buffer = Queue<Element>()
    @usableFromInline var roster = Roster<Listener>()
    // Accepted while a thread is sending.
    @usableFromInline var queued = Queue<Event<Element>>()
    // The number of the last event accepted.
    @usableFromInline var accepted = 0
    @usableFromInline var isSending = false
    // The end as accepted; the roster ends when that is sent.
    @usableFromInline var end: (any Error)??

    @usableFromInline init() {}
  }

  /// An observer, and the events that wait while it gets the buffer.
  @usableFromInline
  final class Listener: @unchecked Sendable {
    // Safe: `joined` is set before the roster publishes the listener, `waiting` is touched under the core's lock.
    @usableFromInline let subscription: Subscription
    @usableFromInline let next: Observable<Element>.Next
    // Raised by the subscribing thread when nothing waits; from then on only the sender delivers.
    @usableFromInline let isLive = Atomic<Bool>(false)
    // The number of the last event that the replay covers.
    @usableFromInline var joined = 0
    @usableFromInline var waiting: [Event<Element>] = []

    init(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
      self.subscription = subscription
      self.next = next
    }

    @inlinable
    func deliver(_ event: Event<Element>) {
      switch event {
      case .next(let element): subscription.deliverIfActive(element, to: next)
      case .error(let error): subscription.finish(error)
      case .completed: subscription.finish(nil)
      }
    }
  }

  /// One event on its way to those who listen.
  @usableFromInline
  struct Sending {
    @usableFromInline let event: Event<Element>
    @usableFromInline let number: Int
    @usableFromInline let members: [(id: UInt64, value: Listener)]

    @inlinable
    init(_ event: Event<Element>, _ number: Int, _ members: [(id: UInt64, value: Listener)]) {
      self.event = event
      self.number = number
      self.members = members
    }
  }

  // Guards the state and the listeners' `waiting`; events are sent outside.
  @usableFromInline let state = Locked(State())
  @usableFromInline let capacity: Int
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

  /// The element accepted last, the number of the last event, and how the subject has ended, if it has.
  var latest: (element: Element?, number: Int, end: (any Error)??) {
    state.withLock { ($0.buffer.last, $0.accepted, $0.end) }
  }

  /// Accepts `element`, and sends it or leaves that to the thread that is sending; does nothing after the end.
  @inlinable
  func onNext(_ element: Element) { _ = accept(element, after: nil) }

  /// Accepts `element` if the last event still has the given number, or whatever that is for `nil`.
  @inlinable
  func accept(_ element: Element, after number: Int?) -> Bool {
    let (isAccepted, dropped, sending) = state.withLock { state -> (Bool, Element?, Sending?) in
      if let number, number != state.accepted { return (false, nil, nil) }
      guard state.end == nil else { return (true, nil, nil) }
      var dropped: Element?
      if capacity > 0 {
        if state.buffer.count == capacity { dropped = state.buffer.popFirst() }
        state.buffer.append(element)
      }
      return (true, dropped, Self.enter(&state, .next(element)))
    }
    withExtendedLifetime(dropped) {}  // released outside the lock
    if let sending { send(sending) }
    return isAccepted
  }

  func finish(_ error: (any Error)?) {
    let sending = state.withLock { state -> Sending? in
      guard state.end == nil else { return nil }
      state.end = .some(error)
      return Self.enter(&state, error.map { .error($0) } ?? .completed)
    }
    if let sending { send(sending) }
  }

  /// Numbers `event`, and queues it if a thread is sending; otherwise the caller must send what this returns.
  @inlinable
  static func enter(_ state: inout State, _ event: Event<Element>) -> Sending? {
    state.accepted += 1
    if state.isSending {
      state.queued.append(event)
      return nil
    }
    state.isSending = true
    return begin(&state, event, state.accepted)
  }

  @inlinable
  static func begin(_ state: inout State, _ event: Event<Element>, _ number: Int) -> Sending {
    if case .next = event { return Sending(event, number, state.roster.members) }
    return Sending(event, number, state.roster.end(event.error))
  }

  /// Sends, and then whatever has been queued meanwhile.
  @inlinable
  func send(_ first: Sending) {
    var current: Sending? = first
    while let sending = current {
      for member in sending.members {
        let listener = member.value
        // The replay of one that joined later holds the event already.
        guard listener.joined < sending.number else { continue }
        if listener.isLive.load(ordering: .acquiring) {
          listener.deliver(sending.event)
        } else {
          sendToNew(listener, sending.event)
        }
      }
      current = state.withLock { state -> Sending? in
        guard let event = state.queued.popFirst() else {
          state.isSending = false
          return nil
        }
        return Self.begin(&state, event, state.accepted - state.queued.count)
      }
    }
  }

  /// Leaves the event to the listener's own thread while that delivers the buffer.
  @usableFromInline
  func sendToNew(_ listener: Listener, _ event: Event<Element>) {
    let isLive = state.withLock { _ in
      if listener.isLive.load(ordering: .relaxed) { return true }
      listener.waiting.append(event)
      return false
    }
    if isLive { listener.deliver(event) }
  }

  func add(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    let listener = Listener(subscription, next)
    let (id, elements, end) = state.withLock { state -> (UInt64?, [Element], (any Error)??) in
      if let end = state.end { return (nil, replaysAfterEnd ? state.buffer.elements : [], .some(end)) }
      listener.joined = state.accepted
      guard case .joined(let id) = state.roster.join(listener) else { return (nil, [], nil) }
      return (id, state.buffer.elements, nil)
    }
    if let id {
      subscription.own(
        Disposables.create { [weak self] in
          let left = self?.state.withLock { $0.roster.leave(id) }
          withExtendedLifetime(left) {}  // released outside the lock
        })
    }
    for element in elements {
      if subscription.isStopped { return }
      subscription.deliver(element, to: next)
    }
    if let end { return subscription.finish(end) }
    while !subscription.isStopped {
      let batch = state.withLock { _ in
        let batch = listener.waiting
        listener.waiting = []
        if batch.isEmpty { listener.isLive.store(true, ordering: .releasing) }
        return batch
      }
      if batch.isEmpty { return }
      for event in batch { listener.deliver(event) }
    }
  }
}
