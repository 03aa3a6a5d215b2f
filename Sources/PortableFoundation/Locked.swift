import Synchronization

/// State guarded by a mutex; the only lock type of this package.
///
/// In debug builds, an atomic also orders the critical sections. On Linux the contended path of `Mutex` runs in the
/// kernel, where Thread Sanitizer cannot see it and would report false races. Compilers before 6.3 reject the closure
/// that this requires.
@usableFromInline
package struct Locked<Value>: ~Copyable, Sendable {
  // Guards the state; closures under it must not call code outside this package.
  @usableFromInline let mutex: Mutex<Value>
  #if DEBUG && compiler(>=6.3)
    // Guards nothing, but makes the order of the sections visible to Thread Sanitizer.
    @usableFromInline let order = Atomic<Bool>(false)
  #endif

  @inlinable
  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Runs `body` with exclusive access to the state. `body` must be short and must not call code outside this package.
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

  /// Runs `body` like `withLock`, and releases the second value, which it has removed from the state, outside the lock.
  @inlinable
  package borrowing func take<Result, Removed>(
    _ body: (inout sending Value) -> sending (Result, Removed)
  ) -> sending Result {
    let (result, removed) = withLock(body)
    // Not `_ =`: the optimizer may move a final release into the critical section, and a `deinit` may run user code.
    withExtendedLifetime(removed) {}
    return result
  }

  /// Releases what `body` removes from the state outside the lock.
  @inlinable
  package borrowing func release<Removed>(_ body: (inout sending Value) -> sending Removed) {
    let removed = withLock(body)
    withExtendedLifetime(removed) {}
  }
}
