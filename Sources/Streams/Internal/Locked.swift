import Synchronization

/// State behind a mutex; the one lock of this package.
///
/// What leaves the state is released outside the lock with `withExtendedLifetime`, not with `_ =`: the optimiser may move
/// a last release up into the critical section, and a `deinit` may run user code.
///
/// In debug builds it also orders its critical sections by an atomic: on Linux the contended path of `Mutex` runs in
/// the kernel, where Thread Sanitizer does not see it and so reports races that are none. Compilers before 6.3 reject the closure
/// that this takes.
@usableFromInline
package struct Locked<Value>: ~Copyable, Sendable {
  // Whoever holds the state; closures under it must call nothing foreign.
  @usableFromInline let mutex: Mutex<Value>
  #if DEBUG && compiler(>=6.3)
    // Guards nothing: it shows the order of the sections to Thread Sanitizer.
    @usableFromInline let order = Atomic<Bool>(false)
  #endif

  @usableFromInline
  package init(_ value: sending Value) { mutex = Mutex(value) }

  /// Runs `body` alone on the state. It must be short and call nothing that is not ours.
  @inlinable
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if DEBUG && compiler(>=6.3)
      try mutex.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
        _ = order.load(ordering: .acquiring)
        defer { order.store(true, ordering: .releasing) }
        return try body(&value)
      }
    #else
      try mutex.withLock(body)
    #endif
  }
}
