#if canImport(CCurl)
  import CCurl
  import PortableFoundation
  import Synchronization

  /// Hands transfers from any thread to the loop's: stacks that any thread pushes to and the loop empties whole.
  ///
  /// Lock-free, because the loop must never wait for a sender, and because ThreadSanitizer does not understand a
  /// contended `Mutex` (it reports the slow path of Swift 6.3's futex lock as a race) but understands these atomics.
  final class CurlInbox: Sendable {
    /// The address of the newest transfer, `empty` or `closed`.
    private typealias Head = Atomic<UInt>

    private static let empty: UInt = 0
    /// Nothing may be pushed any more.
    private static let closed: UInt = 1

    /// Any thread pushes; the loop's alone takes, a whole stack at once.
    private let submitted = Head(empty)
    private let cancelled = Head(empty)
    private let resumed = Head(empty)
    let waker = CurlWaker()
    /// Set by whoever shuts the transport down, read by the loop and by senders.
    private let isClosing = Atomic<Bool>(false)

    /// Set by whoever wants to know something, cleared by the loop.
    private let isAsked = Atomic<Bool>(false)

    // MARK: Any thread

    /// Hands `transfer` in; `false` when the loop has ended. Needs a wake-up behind it.
    func submit(_ transfer: CurlTransfer) -> Bool {
      !isClosing.load(ordering: .acquiring) && Self.push(transfer, on: submitted) { $0.nextSubmitted = $1 }
    }

    /// Tells of a cancellation; each transfer is cancelled once at most. Needs a wake-up behind it.
    func cancel(_ transfer: CurlTransfer) { _ = Self.push(transfer, on: cancelled) { $0.nextCancelled = $1 } }

    /// Tells that a pause is over; a transfer that is told of already is not told of again. Needs a wake-up behind it.
    func resume(_ transfer: CurlTransfer) {
      guard !transfer.isResuming.exchange(true, ordering: .acquiringAndReleasing) else { return }
      if !Self.push(transfer, on: resumed, link: { $0.nextResumed = $1 }) {
        transfer.isResuming.store(false, ordering: .releasing)
      }
    }

    /// Tells the loop to end. Needs a wake-up behind it.
    func close() { isClosing.store(true, ordering: .sequentiallyConsistent) }

    /// Tells the loop that there is a question. Needs a wake-up behind it.
    func ask() { isAsked.store(true, ordering: .sequentiallyConsistent) }

    // MARK: The loop's thread

    /// Whether there are questions; they are the caller's then.
    func takeQuestions() -> Bool {
      isAsked.load(ordering: .relaxed) && isAsked.exchange(false, ordering: .acquiringAndReleasing)
    }

    var shallClose: Bool { isClosing.load(ordering: .acquiring) }

    /// Hands everything out, the oldest first.
    func takeAll(
      submitted take: (CurlTransfer) -> Void, cancelled takeCancelled: (CurlTransfer) -> Void,
      resumed takeResumed: (CurlTransfer) -> Void
    ) {
      Self.drain(submitted, closing: false, unlink: { $0.unlinkSubmitted() }, take)
      Self.drain(cancelled, closing: false, unlink: { $0.unlinkCancelled() }, takeCancelled)
      Self.drain(resumed, closing: false, unlink: { $0.unlinkResumed() }, takeResumed)
    }

    /// Hands out what was submitted last, and lets nothing in any more. No thread wakes the loop behind this.
    func end(_ take: (CurlTransfer) -> Void) {
      Self.drain(submitted, closing: true, unlink: { $0.unlinkSubmitted() }, take)
      Self.drain(cancelled, closing: true, unlink: { $0.unlinkCancelled() }) { _ in }
      Self.drain(resumed, closing: true, unlink: { $0.unlinkResumed() }) { _ in }
      waker.end()
    }

    /// `true` when nothing has come in: who comes from now on wakes the loop.
    func fallAsleep() -> Bool {
      waker.fallAsleep {
        submitted.load(ordering: .sequentiallyConsistent) == Self.empty
          && cancelled.load(ordering: .sequentiallyConsistent) == Self.empty
          && resumed.load(ordering: .sequentiallyConsistent) == Self.empty
          && !isAsked.load(ordering: .sequentiallyConsistent) && !isClosing.load(ordering: .sequentiallyConsistent)
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
