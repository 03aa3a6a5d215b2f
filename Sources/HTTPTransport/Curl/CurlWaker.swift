#if canImport(CCurl)
  import PortableFoundation
  import Synchronization

  /// Wakes the loop from any thread, at most once for each of its sleeps.
  struct CurlWaker: ~Copyable {
    /// Set by the loop before it waits; cleared by itself, or by the one thread that then wakes it.
    private let isAsleep = Atomic<Bool>(false)
    /// Threads between finding the loop asleep and having woken it.
    private let wakers = Atomic<Int>(0)

    // MARK: Any thread

    /// Calls `wake` when the loop sleeps: one of many senders does, once for their whole batch.
    func wakeIfAsleep(_ wake: () -> Void) {
      guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
      wakers.add(1, ordering: .sequentiallyConsistent)
      if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { wake() }
      wakers.subtract(1, ordering: .sequentiallyConsistent)
    }

    // MARK: The loop's thread

    /// `true` when `hasNothing` says so: who comes from now on wakes the loop.
    func fallAsleep(if hasNothing: () -> Bool) -> Bool {
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      if hasNothing() { return true }
      isAsleep.store(false, ordering: .sequentiallyConsistent)
      return false
    }

    /// The loop has been woken, or has waited long enough.
    func wakeUp() {
      if isAsleep.load(ordering: .relaxed) { isAsleep.store(false, ordering: .sequentiallyConsistent) }
    }

    /// Returns when no thread wakes the loop any more.
    func end() {
      isAsleep.store(false, ordering: .sequentiallyConsistent)
      while wakers.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
    }
  }
#endif
