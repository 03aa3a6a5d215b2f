/// Work that runs once unless it is disposed first; either way its closure is released.
final class ScheduledItem: Cancelable {
  // Guards the closure, which the queue or the disposer takes out, to run or release it outside.
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(action) }

  var isDisposed: Bool { action.withLock { $0 == nil } }

  func run() { action.withLock { $0.take() }?() }

  func dispose() {
    let dropped = action.withLock { $0.take() }
    withExtendedLifetime(dropped) {}  // released outside the lock
  }
}
