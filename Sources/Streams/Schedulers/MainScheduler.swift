import Dispatch
import PortableFoundation
import Synchronization

/// A scheduler that runs work on the main queue: immediately if called there with an empty queue, otherwise in order.
///
/// It identifies the main queue by a queue-specific key, not by the thread. It therefore works under `RunLoop.main`,
/// under `dispatchMain()` and under an async `main` (contract, law 21).
public final class MainScheduler: SchedulerType {
  /// The shared instance.
  public static let instance = MainScheduler()

  private static let mark = QueueMark()
  private let base = DispatchQueueScheduler(queue: .main)
  // The number of items queued on main, from any thread. An action runs inline only if there are none.
  private let queued = Atomic<Int>(0)

  private init() { Self.mark.put(on: .main) }

  static var isOnMainQueue: Bool {
    _ = instance
    return mark.isHere
  }

  /// The current time of the system clock.
  public var now: Date { Date() }

  /// The time of the system's monotonic clock, which Dispatch timers use; it does not advance while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the main queue: before returning if called there with an empty queue.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let before = queued.add(1, ordering: .acquiringAndReleasing).oldValue
    if before == 0, Self.isOnMainQueue {
      action()
      queued.subtract(1, ordering: .acquiringAndReleasing)
      return Disposables.create()
    }
    return enqueue(action)
  }

  /// Enqueues `action`, which `queued` already counts.
  private func enqueue(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let item = ScheduledItem(action)
    DispatchQueue.main.async { [self] in
      item.run()
      queued.subtract(1, ordering: .acquiringAndReleasing)
    }
    return item
  }

  /// Runs `action` on the main queue after `dueTime`; never before this call returns.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    if dueTime > .zero { return base.scheduleRelative(dueTime, action) }
    // Doesn't run inline, because an item that schedules itself again would never return.
    queued.add(1, ordering: .acquiringAndReleasing)
    return enqueue(action)
  }
}
