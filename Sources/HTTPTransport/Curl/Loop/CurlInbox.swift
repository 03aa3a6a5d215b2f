#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Synchronization

  /// An entry of a stack of the inbox.
  protocol CurlInboxEntry: AnyObject {}

  /// A queue that passes transfers and jobs from any thread to the loop's thread: stacks that any thread pushes to, and that the
  /// loop empties completely.
  ///
  /// The stacks are lock-free, because the loop must never wait for a sender. In addition, Thread Sanitizer reports the
  /// slow path of Swift 6.3's futex lock as a race, but supports these atomics.
  final class CurlInbox: Sendable {
    /// The address of the newest transfer, `empty` or `closed`.
    private typealias Head = Atomic<UInt>

    private static let empty: UInt = 0
    /// No more transfers can be pushed.
    private static let closed: UInt = 1

    /// Any thread pushes. Only the loop's thread takes entries, a whole stack in one step.
    private let submitted = Head(empty)
    private let cancelled = Head(empty)
    private let resumed = Head(empty)
    private let jobs = Head(empty)
    let waker = CurlWaker()
    /// Set by the thread that shuts the transport down, read by the loop and by senders.
    private let closing = Atomic<Bool>(false)

    // MARK: Any thread

    /// Adds `transfer`. Returns `false` if the loop has ended. The caller must wake the loop afterwards.
    func submit(_ transfer: CurlTransfer) -> Bool {
      !closing.load(ordering: .acquiring) && Self.push(transfer, on: submitted) { $0.nextSubmitted = $1 }
    }

    /// Adds a cancellation; at most once for each transfer. The caller must wake the loop afterwards.
    func cancel(_ transfer: CurlTransfer) { _ = Self.push(transfer, on: cancelled) { $0.nextCancelled = $1 } }

    /// Adds the end of a pause, unless it is already in the queue. The caller must wake the loop afterwards.
    func resume(_ transfer: CurlTransfer) {
      guard !transfer.isResuming.exchange(true, ordering: .acquiringAndReleasing) else { return }
      if !Self.push(transfer, on: resumed, link: { $0.nextResumed = $1 }) {
        transfer.isResuming.store(false, ordering: .releasing)
      }
    }

    /// Requests the end of the loop. The caller must wake the loop afterwards.
    func close() { closing.store(true, ordering: .sequentiallyConsistent) }

    /// Adds a job. Returns `false` if the loop has ended. The caller must wake the loop afterwards.
    func submit(_ job: CurlJob) -> Bool { Self.push(job, on: jobs) { $0.next = $1 } }

    // MARK: The loop's thread

    var isClosing: Bool { closing.load(ordering: .acquiring) }

    /// Removes all entries and passes them to the closures, the oldest first.
    func takeAll(
      submitted take: (CurlTransfer) -> Void, cancelled takeCancelled: (CurlTransfer) -> Void,
      resumed takeResumed: (CurlTransfer) -> Void
    ) {
      Self.drain(submitted, closing: false, unlink: { $0.nextSubmitted }, take)
      Self.drain(cancelled, closing: false, unlink: { $0.nextCancelled }, takeCancelled)
      Self.drain(resumed, closing: false, unlink: { $0.unlinkResumed() }, takeResumed)
    }

    /// Whether another thread has added jobs. One that is not seen is seen before the loop sleeps.
    var hasJobs: Bool { jobs.load(ordering: .relaxed) != Self.empty }

    /// Removes all jobs and passes them to `take`, the oldest first.
    func takeJobs(_ take: (CurlJob) -> Void) { Self.drain(jobs, closing: false, unlink: { $0.next }, take) }

    /// Passes the last submissions to `take` and the last jobs to `takeJob`, and rejects all later ones. No thread wakes the
    /// loop afterwards.
    func end(_ take: (CurlTransfer) -> Void, jobs takeJob: (CurlJob) -> Void) {
      Self.drain(submitted, closing: true, unlink: { $0.nextSubmitted }, take)
      Self.drain(cancelled, closing: true, unlink: { $0.nextCancelled }) { (_: CurlTransfer) in }
      Self.drain(resumed, closing: true, unlink: { $0.unlinkResumed() }) { (_: CurlTransfer) in }
      Self.drain(jobs, closing: true, unlink: { $0.next }, takeJob)
      waker.end()
    }

    /// Returns `true` if the queue is empty. Any later sender wakes the loop.
    func fallAsleep() -> Bool {
      waker.fallAsleep {
        submitted.load(ordering: .sequentiallyConsistent) == Self.empty
          && cancelled.load(ordering: .sequentiallyConsistent) == Self.empty
          && resumed.load(ordering: .sequentiallyConsistent) == Self.empty
          && jobs.load(ordering: .sequentiallyConsistent) == Self.empty
          && !closing.load(ordering: .sequentiallyConsistent)
      }
    }

    // MARK: The stacks

    private static func push<Entry: CurlInboxEntry>(
      _ entry: Entry, on head: borrowing Head, link: (Entry, UInt) -> Void
    ) -> Bool {
      let node = Unmanaged.passRetained(entry)
      var top = head.load(ordering: .relaxed)
      while top != closed {
        link(entry, top)
        let change = head.weakCompareExchange(
          expected: top, desired: UInt(bitPattern: node.toOpaque()), successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed)
        if change.exchanged { return true }
        top = change.original
      }
      node.release()
      return false
    }

    private static func drain<Entry: CurlInboxEntry>(
      _ head: borrowing Head, closing: Bool, unlink: (Entry) -> UInt, _ take: (Entry) -> Void
    ) {
      if !closing, head.load(ordering: .relaxed) == empty { return }
      var next = head.exchange(closing ? closed : empty, ordering: .acquiringAndReleasing)
      guard next != closed else { return }
      var batch: [Entry] = []  // stays empty, without an allocation, for a single transfer
      while let node = UnsafeMutableRawPointer(bitPattern: next) {
        let entry = Unmanaged<Entry>.fromOpaque(node).takeRetainedValue()
        next = unlink(entry)
        if next == empty, batch.isEmpty { return take(entry) }
        batch.append(entry)
      }
      for entry in batch.reversed() { take(entry) }
    }
  }
#endif
