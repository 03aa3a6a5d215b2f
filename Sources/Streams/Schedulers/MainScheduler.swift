import Dispatch
import PortableFoundation
import Synchronization

/// Runs work on the main queue: at once when called there with nothing queued, else in order behind what is queued.
///
/// The main queue is recognised by a key, not by the thread, so it works under `RunLoop.main`, under `dispatchMain()`
/// and under an async `main` (law 21).
public final class MainScheduler: SchedulerType {
  /// The scheduler.
  public static let instance = MainScheduler()

  private static let key = DispatchSpecificKey<Bool>()
  private let base = DispatchQueueScheduler(queue: .main)
  // The items queued on main, which go before what could run inline; any thread counts.
  private let queued = Atomic<Int>(0)

  private init() { DispatchQueue.main.setSpecific(key: Self.key, value: true) }

  /// Whether the caller is on the main queue.
  static var isOnMainQueue: Bool {
    _ = instance
    return DispatchQueue.getSpecific(key: key) == true
  }

  /// The system's clock.
  public var now: Date { Date() }

  /// The system's monotonic clock, the one Dispatch's timers run by; it stands still while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the main queue; before it returns when already there with nothing queued.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let before = queued.add(1, ordering: .acquiringAndReleasing).oldValue
    if before == 0, Self.isOnMainQueue {
      action()
      queued.subtract(1, ordering: .acquiringAndReleasing)
      return Disposables.create()
    }
    return enqueue(action)
  }

  /// Runs `action` behind what is queued; it has been counted.
  private func enqueue(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let item = ScheduledItem(action)
    DispatchQueue.main.async { [self] in
      item.run()
      queued.subtract(1, ordering: .acquiringAndReleasing)
    }
    return item
  }

  /// Runs `action` on the main queue when `dueTime` has passed; never before this returns.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    if dueTime > .zero { return base.scheduleRelative(dueTime, action) }
    // Not inline: an item that schedules itself again would never return.
    queued.add(1, ordering: .acquiringAndReleasing)
    return enqueue(action)
  }
}
