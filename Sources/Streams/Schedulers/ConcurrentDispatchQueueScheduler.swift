import Dispatch
import PortableFoundation

/// Runs work in parallel on a concurrent dispatch queue.
public final class ConcurrentDispatchQueueScheduler: SchedulerType {
  let base: DispatchQueueScheduler

  /// A scheduler on `queue`.
  public init(queue: DispatchQueue) { base = DispatchQueueScheduler(queue: queue) }

  /// A scheduler on the global queue of the given quality of service.
  public convenience init(qos: DispatchQoS) { self.init(queue: .global(qos: qos.qosClass)) }

  /// The system's clock.
  public var now: Date { Date() }

  /// The system's monotonic clock, the one Dispatch's timers run by; it stands still while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the queue.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }

  /// Runs `action` on the queue when `dueTime` has passed.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    base.scheduleRelative(dueTime, action)
  }
}
