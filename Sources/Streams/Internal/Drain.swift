import Synchronization

/// Lets one thread at a time in and hands the work of the others to it: queue-drain, the serialiser of law 2.
///
/// Nobody waits and no lock is held over the work. Work that arrives while some is running, from another thread or
/// re-entrantly, runs after it, in the order of arrival (law 3). Uncontended it costs two atomic operations.
@usableFromInline
struct Drain: ~Copyable, Sendable {
  // The work inside plus the work queued; whoever takes it from 0 to 1 is inside.
  @usableFromInline let work = Atomic<Int>(0)
  // Guards appending and taking; a job runs outside. `work` counts up inside: a job counted is a job queued.
  private let queue = Locked(Queue<@Sendable () -> Void>())

  @inlinable init() {}

  /// Goes inside if nobody is; each success is paired with one `exit()`.
  @inlinable
  func tryEnter() -> Bool {
    work.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
  }

  /// Leaves, after doing what has been queued meanwhile.
  @inlinable
  func exit() {
    if work.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0 { runQueued() }
  }

  /// Whether nobody is inside; only of use to the sole thread that could enter.
  @inlinable var isIdle: Bool { work.load(ordering: .acquiring) == 0 }

  /// Queues `job` for whoever is inside, or runs it here when nobody is.
  @usableFromInline
  func enqueue(_ job: @escaping @Sendable () -> Void) {
    let before = queue.withLock { queue in
      queue.append(job)
      return work.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    }
    if before == 0 { runQueued() }
  }

  /// Runs `job` inside: now if nobody is there, else later.
  @inlinable
  func run(_ job: @escaping @Sendable () -> Void) {
    if tryEnter() {
      job()
      exit()
    } else {
      enqueue(job)
    }
  }

  /// Runs `job` inside on `owner` and `element`: now if nobody is there, else later.
  ///
  /// A `job` that captures nothing costs no reference count, as one that captures `owner` would.
  @inlinable
  func run<Owner: AnyObject & Sendable, Element: Sendable>(
    _ owner: Owner, _ element: Element, _ job: @escaping @Sendable (Owner, Element) -> Void
  ) {
    if tryEnter() {
      job(owner, element)
      exit()
    } else {
      later(owner, element, job)
    }
  }

  @inlinable @inline(never)
  func later<Owner: AnyObject & Sendable, Element: Sendable>(
    _ owner: Owner, _ element: Element, _ job: @escaping @Sendable (Owner, Element) -> Void
  ) {
    enqueue { job(owner, element) }
  }

  @usableFromInline
  func runQueued() {
    repeat {
      guard let job = queue.withLock({ $0.popFirst() }) else { return }
      job()
    } while work.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }
}
