import Synchronization

/// Flattens streams into one: the implementation of `flatMap`, `concatMap` and `merge` (contract, laws 13, 14).
///
/// It is the scope of the outer stream. Inner streams are counted before they are subscribed. Elements and terminal
/// events of all streams pass through one drain, so that they are serial and no terminal event overtakes an element.
@usableFromInline
final class MergeScope<Element: Sendable>: Scope, @unchecked Sendable {  // safe: atomics, an emitter and a mutex
  private struct Waiting {
    var running = 0
    var queue = Queue<Observable<Element>>()
    /// Closures that resume the paused sources of the outer stream.
    var resumes: [@Sendable () -> Void] = []

    func isFull(_ limit: Int) -> Bool { running + queue.count >= limit }
  }

  @usableFromInline let next: Observable<Element>.Next
  // The entry point for the elements of all streams; terminal events pass through its drain, too.
  @usableFromInline let emitter: Emitter<Element>
  // The number of streams that have not terminated, including the outer stream.
  @usableFromInline let active = Atomic<Int>(1)
  @usableFromInline let limit: Int
  @usableFromInline let inners = SubscriptionSet()
  // Guards the queued inner streams and the number of running streams; streams are started outside the lock.
  private let waiting = Locked(Waiting())
  private let starter = Trampoline()

  @usableFromInline
  init(_ downstream: Subscription, limit: Int = .max, next: @escaping Observable<Element>.Next) {
    self.limit = limit
    self.next = next
    emitter = Emitter(downstream, next)
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
      if isIdle, emitter.drain.isIdle {
        downstream.deliverIfActive(element, to: next)
        return
      }
      if limit == .max { return emitter.onNext(element) }
    }
    active.add(1, ordering: .acquiringAndReleasing)
    if limit == .max { start(inner) } else { admit(inner) }
  }

  @inlinable
  func start(_ inner: Observable<Element>) {
    let scope = MergeInner(self)
    scope.slot = inners.insert(scope)
    inner.run(scope) { scope.push($0) }
  }

  @usableFromInline
  func admit(_ inner: Observable<Element>) {
    waiting.withLock { $0.queue.append(inner) }
    startWaiting()
  }

  /// Pauses the outer stream, if it supports backpressure, while the limit of inner streams is reached; otherwise they
  /// would queue here without a limit.
  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    let isFull =
      limit != .max
      && waiting.withLock { waiting in
        guard waiting.isFull(limit) else { return false }
        // After the terminal event, nothing would release the closure.
        if !isStopped { waiting.resumes.append(resume) }
        return true
      }
    return !isFull && downstream.takesMore(orCall: resume)
  }

  @usableFromInline
  override func released() {
    let resumes = waiting.withLock { exchange(&$0.resumes, with: []) }
    withExtendedLifetime(resumes) {}  // released outside the lock
  }

  // The loop starts the next inner stream, instead of the previous stream's terminal event (contract, law 14).
  private func startWaiting() {
    starter.bounce {
      let inner: Observable<Element>? = waiting.withLock { waiting in
        guard waiting.running < limit, let inner = waiting.queue.popFirst() else { return nil }
        waiting.running += 1
        return inner
      }
      if let inner, !downstream.isStopped { start(inner) }
    }
  }

  /// Handles the terminal event of the outer stream.
  @usableFromInline
  override func terminated(_ error: (any Error)?) { ended(error) }

  /// Handles the terminal event of an inner stream.
  @usableFromInline
  func innerEnded(_ error: (any Error)?) {
    ended(error)
    guard limit != .max, error == nil else { return }
    waiting.withLock { $0.running -= 1 }
    startWaiting()
    let resumes = waiting.withLock { $0.isFull(limit) ? [] : exchange(&$0.resumes, with: []) }
    for resume in resumes { resume() }
  }

  private func ended(_ error: (any Error)?) {
    emitter.drain.run(self, error) { $0.leave($1) }
  }

  private func leave(_ error: (any Error)?) {
    if let error {
      downstream.fail(error)
    } else if active.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      downstream.complete()
    }
  }
}

/// The scope of one inner stream.
@usableFromInline
final class MergeInner<Element: Sendable>: Subscription, @unchecked Sendable {
  // Safe: `slot` is written before the inner stream runs, and read after it has terminated.
  @usableFromInline let parent: MergeScope<Element>
  @usableFromInline var slot = -1
  // The number of elements of this stream that wait in the drain; only one thread at a time adds to it.
  @usableFromInline let queued = Atomic<Int>(0)

  @usableFromInline
  init(_ parent: MergeScope<Element>) { self.parent = parent }

  @inlinable
  func push(_ element: Element) {
    if parent.emitter.drain.tryEnter() {
      emit(element)
      parent.emitter.drain.exit()
    } else {
      later(element)
    }
  }

  @inlinable
  func emit(_ element: Element) { parent.downstream.deliverIfActive(element, to: parent.next) }

  @inlinable @inline(never)
  func later(_ element: Element) {
    queued.add(1, ordering: .acquiringAndReleasing)
    parent.emitter.drain.enqueue { [self] in
      emit(element)
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
      parent.emitter.drain.enqueue(resume)
      return false
    }
    return parent.downstream.takesMore(orCall: resume)
  }
}
