#if canImport(CLibcurl)
  import PortableFoundation
  import Synchronization

  /// Wakes the loop from any thread, at most once for each wait.
  struct CurlWaker: ~Copyable {
    /// Set by the loop before it waits. Cleared by the loop, or by the one thread that then wakes it.
    private let isAsleep = Atomic<Bool>(false)
    /// The number of threads that are about to wake the loop.
    private let wakers = Atomic<Int>(0)

    // MARK: Any thread

    /// Calls `wake` if the loop waits. Of many concurrent senders, only one wakes it.
    func wakeIfAsleep(_ wake: () -> Void) {
      guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
      wakers.add(1, ordering: .sequentiallyConsistent)
      if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { wake() }
      wakers.subtract(1, ordering: .sequentiallyConsistent)
    }

    // MARK: The loop's thread

    /// Returns `true` if `hasNothing` returns `true`. Any later sender then wakes the loop.
    func fallAsleep(if hasNothing: () -> Bool) -> Bool {
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      if hasNothing() { return true }
      isAsleep.store(false, ordering: .sequentiallyConsistent)
      return false
    }

    /// Records that the loop no longer waits.
    func wakeUp() {
      if isAsleep.load(ordering: .relaxed) { isAsleep.store(false, ordering: .sequentiallyConsistent) }
    }

    /// Returns when no other thread is waking the loop.
    func end() {
      isAsleep.store(false, ordering: .sequentiallyConsistent)
      while wakers.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
    }
  }
#endif
