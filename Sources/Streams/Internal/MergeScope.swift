import Synchronization

/// Flattens streams into one: the implementation of `flatMap`, `concatMap` and `merge` (contract, laws 13, 14).
///
/// It is the scope of the outer stream. Inner streams are counted before they are subscribed. Elements and terminal
/// events of all streams pass through one drain, so that they are serial and no terminal event overtakes an element.
@usableFromInline
final class MergeScope<Element: Sendable>: Scope, @unchecked Sendable {  // safe: atomics, a drain and a mutex
  @usableFromInline let next: Observable<Element>.Next
  // Serializes the elements and terminal events of all streams.
  @usableFromInline let drain = Drain()
  // The number of streams that have not terminated, including the outer stream.
  @usableFromInline let active = Atomic<Int>(1)
  @usableFromInline let inners = SubscriptionSet()
  // The inner streams that wait to run; `nil` without a limit.
  @usableFromInline let backlog: MergeBacklog<Element>?

  @usableFromInline
  init(_ downstream: Subscription, limit: Int = .max, next: @escaping Observable<Element>.Next) {
    self.next = next
    backlog = limit == .max ? nil : MergeBacklog(limit)
    super.init(downstream)
    downstream.own(inners)
  }

  /// Whether no inner stream is active, so that only the outer stream emits.
  @inlinable var isIdle: Bool { active.load(ordering: .acquiring) == 1 }

  /// Adds one inner stream; called serially by the outer stream.
  @inlinable
  func add(_ inner: Observable<Element>) {
    // Another thread may be ending the result.
    guard !downstream.isStopped else { return }
    if let element = inner.scalar {
      // The outer stream is serial, so nothing needs to be serialized.
      if isIdle, drain.isIdle { return emit(element) }
      // Checks the subscription inside the drain; if it were checked earlier, it could end in between.
      if backlog == nil { return drain.run { [self] in emit(element) } }
    }
    active.add(1, ordering: .acquiringAndReleasing)
    if let backlog { admit(inner, backlog) } else { start(inner) }
  }

  @inlinable
  func emit(_ element: Element) { downstream.deliverIfActive(element, to: next) }

  @inlinable
  func start(_ inner: Observable<Element>) {
    let scope = MergeInner(self)
    scope.slot = inners.insert(scope)
    inner.run(scope) { scope.push($0) }
  }

  @usableFromInline
  func admit(_ inner: Observable<Element>, _ backlog: MergeBacklog<Element>) {
    backlog.append(inner)
    startWaiting(backlog)
  }

  private func startWaiting(_ backlog: MergeBacklog<Element>) {
    backlog.runWaiting { inner in if !downstream.isStopped { start(inner) } }
  }

  /// Pauses the outer stream, if it supports backpressure, while the limit of inner streams is reached; otherwise they
  /// would queue here without a limit.
  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    if let backlog, backlog.isFull(below: self, orCall: resume) { return false }
    return downstream.takesMore(orCall: resume)
  }

  override var loop: Subscription? { downstream.loop }

  @usableFromInline
  override func released() { backlog?.dropResumes() }

  /// Handles the terminal event of the outer stream.
  @usableFromInline
  override func terminated(_ error: (any Error)?) { ended(error) }

  /// Handles the terminal event of an inner stream.
  @usableFromInline
  func innerEnded(_ error: (any Error)?) {
    ended(error)
    guard let backlog, error == nil else { return }
    backlog.noteEnd()
    startWaiting(backlog)
    backlog.resumeIfNotFull()
  }

  private func ended(_ error: (any Error)?) {
    drain.run { [self] in leave(error) }
  }

  private func leave(_ error: (any Error)?) {
    if let error {
      downstream.fail(error)
    } else if active.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      downstream.complete()
    }
  }
}

/// The inner streams of a `MergeScope` that wait because of its limit.
@usableFromInline
final class MergeBacklog<Element: Sendable>: Sendable {
  private struct State {
    var running = 0
    var queue = Queue<Observable<Element>>()
    /// Closures that resume the paused sources of the outer stream.
    var resumes: [@Sendable () -> Void] = []

    func isFull(_ limit: Int) -> Bool { running + queue.count >= limit }
  }

  private let limit: Int
  // Guards the state; streams are started and resumed outside the lock.
  private let state = Locked(State())
  private let starter = Trampoline()

  init(_ limit: Int) { self.limit = limit }

  func append(_ inner: Observable<Element>) { state.withLock { $0.queue.append(inner) } }

  /// Passes waiting streams to `run` up to the limit. A loop runs them, instead of the previous stream's terminal event
  /// (contract, law 14).
  func runWaiting(_ run: (Observable<Element>) -> Void) {
    starter.bounce {
      let inner: Observable<Element>? = state.withLock { state in
        guard state.running < limit, let inner = state.queue.popFirst() else { return nil }
        state.running += 1
        return inner
      }
      if let inner { run(inner) }
    }
  }

  func noteEnd() { state.withLock { $0.running -= 1 } }

  /// Returns whether the limit is reached. If so, `resume` is called when it no longer is, unless `outer` has ended.
  func isFull(below outer: Subscription, orCall resume: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.isFull(limit) else { return false }
      // After the terminal event, nothing would release the closure.
      if !outer.isStopped { state.resumes.append(resume) }
      return true
    }
  }

  func resumeIfNotFull() {
    let resumes = state.withLock { $0.isFull(limit) ? [] : exchange(&$0.resumes, with: []) }
    for resume in resumes { resume() }
  }

  func dropResumes() { state.release { exchange(&$0.resumes, with: []) } }
}

@usableFromInline
final class MergeInner<Element: Sendable>: Subscription, @unchecked Sendable {
  // Safe: `slot` is written before the inner stream runs, and read after it has terminated.
  @usableFromInline let parent: MergeScope<Element>
  // Row c2.
  @exclusivity(unchecked) @usableFromInline var slot = -1
  // The number of elements of this stream that wait in the drain; only one thread at a time adds to it.
  @usableFromInline let queued = Atomic<Int>(0)

  @usableFromInline
  init(_ parent: MergeScope<Element>) { self.parent = parent }

  @inlinable
  func push(_ element: Element) {
    if parent.drain.tryEnter() {
      parent.emit(element)
      parent.drain.exit()
    } else {
      later(element)
    }
  }

  @inlinable @inline(never)
  func later(_ element: Element) {
    queued.add(1, ordering: .acquiringAndReleasing)
    parent.drain.enqueue { [self] in
      parent.emit(element)
      queued.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    parent.inners.remove(slot)
    parent.innerEnded(error)
  }

  /// Pauses the source while its elements would queue in the drain behind an element of another stream.
  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    guard queued.load(ordering: .acquiring) == 0 else {
      // Runs after the queued elements, or inline if they have already been processed.
      parent.drain.enqueue(resume)
      return false
    }
    return parent.downstream.takesMore(orCall: resume)
  }

  override var loop: Subscription? { parent.downstream.loop }
}

/// The inner subscriptions of a `MergeScope`; adding and removing take constant time. With a `CompositeDisposable`, row
/// c2 takes 1.5 times as long.
@usableFromInline
final class SubscriptionSet: Disposable {
  private struct State {
    var disposed = false
    var slots: [Subscription?] = []
    var free: [Int] = []
  }

  // Guards the members and the free slots; members are disposed and released outside the lock.
  private let state = Locked(State())

  @usableFromInline init() {}

  /// Adds `member` and returns its slot for `remove`, or disposes it immediately if the set has been disposed.
  @usableFromInline
  func insert(_ member: Subscription) -> Int {
    let slot: Int? = state.withLock { state in
      guard !state.disposed else { return nil }
      guard let slot = state.free.popLast() else {
        state.slots.append(member)
        return state.slots.count - 1
      }
      state.slots[slot] = member
      return slot
    }
    guard let slot else {
      member.dispose()
      return -1
    }
    return slot
  }

  /// Removes the member in `slot` without disposing it; must be called at most once per slot.
  @usableFromInline
  func remove(_ slot: Int) {
    state.release { state -> Subscription? in
      guard slot >= 0, !state.disposed else { return nil }
      state.free.append(slot)
      return state.slots[slot].take()
    }
  }

  @usableFromInline
  func dispose() {
    let members = state.withLock { state in
      let members = state.slots
      state = State(disposed: true)
      return members
    }
    for member in members { member?.dispose() }
  }
}
