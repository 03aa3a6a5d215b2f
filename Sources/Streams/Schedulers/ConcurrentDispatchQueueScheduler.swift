import Dispatch
import PortableFoundation

/// A scheduler that runs work concurrently on a concurrent dispatch queue.
public final class ConcurrentDispatchQueueScheduler: SchedulerType {
  let base: DispatchQueueScheduler

  /// Creates a scheduler for `queue`.
  public init(queue: DispatchQueue) { base = DispatchQueueScheduler(queue: queue) }

  /// Creates a scheduler for the global queue with quality of service `qos`.
  public convenience init(qos: DispatchQoS) { self.init(queue: .global(qos: qos.qosClass)) }

  /// The current time of the system clock.
  public var now: Date { Date() }

  /// The time of the system's monotonic clock, which Dispatch timers use; it does not advance while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the queue.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }

  /// Runs `action` on the queue after `dueTime`.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    base.scheduleRelative(dueTime, action)
  }
}
