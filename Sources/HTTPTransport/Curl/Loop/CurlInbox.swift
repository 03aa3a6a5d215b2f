#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Synchronization

  /// A queue that passes transfers from any thread to the loop's thread: stacks that any thread pushes to, and that the
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
    let waker = CurlWaker()
    /// Set by the thread that shuts the transport down, read by the loop and by senders.
    private let closing = Atomic<Bool>(false)

    /// Set by the thread that has a question, cleared by the loop.
    private let isAsked = Atomic<Bool>(false)

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

    /// Records that there is a question. The caller must wake the loop afterwards.
    func ask() { isAsked.store(true, ordering: .sequentiallyConsistent) }

    // MARK: The loop's thread

    /// Returns whether there are questions, and resets the mark.
    func takeQuestions() -> Bool {
      isAsked.load(ordering: .relaxed) && isAsked.exchange(false, ordering: .acquiringAndReleasing)
    }

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

    /// Passes the last submissions to `take` and rejects all later ones. No thread wakes the loop afterwards.
    func end(_ take: (CurlTransfer) -> Void) {
      Self.drain(submitted, closing: true, unlink: { $0.nextSubmitted }, take)
      Self.drain(cancelled, closing: true, unlink: { $0.nextCancelled }) { _ in }
      Self.drain(resumed, closing: true, unlink: { $0.unlinkResumed() }) { _ in }
      waker.end()
    }

    /// Returns `true` if the queue is empty. Any later sender wakes the loop.
    func fallAsleep() -> Bool {
      waker.fallAsleep {
        submitted.load(ordering: .sequentiallyConsistent) == Self.empty
          && cancelled.load(ordering: .sequentiallyConsistent) == Self.empty
          && resumed.load(ordering: .sequentiallyConsistent) == Self.empty
          && !isAsked.load(ordering: .sequentiallyConsistent) && !closing.load(ordering: .sequentiallyConsistent)
      }
    }

    // MARK: The stacks

    private static func push(
      _ transfer: CurlTransfer, on head: borrowing Head, link: (CurlTransfer, UInt) -> Void
    ) -> Bool {
      let node = Unmanaged.passRetained(transfer)
      var top = head.load(ordering: .relaxed)
      while top != closed {
        link(transfer, top)
        let change = head.weakCompareExchange(
          expected: top, desired: UInt(bitPattern: node.toOpaque()), successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed)
        if change.exchanged { return true }
        top = change.original
      }
      node.release()
      return false
    }

    private static func drain(
      _ head: borrowing Head, closing: Bool, unlink: (CurlTransfer) -> UInt,
      _ take: (CurlTransfer) -> Void
    ) {
      if !closing, head.load(ordering: .relaxed) == empty { return }
      var next = head.exchange(closing ? closed : empty, ordering: .acquiringAndReleasing)
      guard next != closed else { return }
      var batch: [CurlTransfer] = []  // stays empty, without an allocation, for a single transfer
      while let node = UnsafeMutableRawPointer(bitPattern: next) {
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(node).takeRetainedValue()
        next = unlink(transfer)
        if next == empty, batch.isEmpty { return take(transfer) }
        batch.append(transfer)
      }
      for transfer in batch.reversed() { take(transfer) }
    }
  }
#endif
