/// A unit of work that runs once unless it is disposed first; its closure is released in both cases.
final class ScheduledItem: Cancelable {
  // Guards the closure; the queue or the disposer takes it out, and runs or releases it outside the lock.
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(action) }

  var isDisposed: Bool { action.withLock { $0 == nil } }

  func run() { action.withLock { $0.take() }?() }

  func dispose() { action.release { $0.take() } }
}
