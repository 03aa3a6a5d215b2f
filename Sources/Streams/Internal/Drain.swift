import Synchronization

/// A queue drain. It admits one thread at a time and passes the work of other threads to that thread, as law 2
/// requires.
///
/// No thread waits, and no lock is held during the work. Work that arrives meanwhile, from another thread or
/// reentrantly, runs afterwards, in order of arrival (contract, law 3). Without contention it costs two atomic
/// operations.
@usableFromInline
package struct Drain: ~Copyable, Sendable {
  // The number of running and queued jobs; the thread that increments it from 0 to 1 is inside.
  @usableFromInline let work = Atomic<Int>(0)
  // Guards the queue; jobs run outside the lock. `work` is incremented under the lock, so that every counted job is
  // queued.
  private let queue = Locked(Queue<@Sendable () -> Void>())

  @inlinable package init() {}

  /// Enters the drain if no thread is inside; each success must be paired with one `exit()`.
  @inlinable
  func tryEnter() -> Bool {
    work.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
  }

  /// Leaves the drain after running the jobs queued meanwhile.
  @inlinable
  func exit() {
    if work.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0 { runQueued() }
  }

  /// Whether no thread is inside; reliable only if no other thread can enter.
  @inlinable var isIdle: Bool { work.load(ordering: .acquiring) == 0 }

  /// Queues `job` for the thread inside, or runs it immediately if there is none.
  @usableFromInline
  func enqueue(_ job: @escaping @Sendable () -> Void) {
    let before = queue.withLock { queue in
      queue.append(job)
      return work.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    }
    if before == 0 { runQueued() }
  }

  /// Runs `job` inside the drain: immediately if no thread is inside, otherwise later.
  @inlinable @inline(__always)
  package func run(_ job: @autoclosure () -> @Sendable () -> Void) {
    if tryEnter() {
      // Called without being stored, so that the closure is not allocated.
      job()()
      exit()
    } else {
      enqueue(job())
    }
  }

  @usableFromInline
  func runQueued() {
    repeat {
      guard let job = queue.withLock({ $0.popFirst() }) else { return }
      job()
    } while work.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }
}
