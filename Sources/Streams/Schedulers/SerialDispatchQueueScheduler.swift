import Dispatch
import PortableFoundation

/// Runs work one item at a time, in order, on a serial dispatch queue.
public final class SerialDispatchQueueScheduler: SchedulerType {
  private let base: DispatchQueueScheduler

  /// A scheduler on a new queue named `internalSerialQueueName`.
  public init(internalSerialQueueName: String, qos: DispatchQoS = .unspecified) {
    base = DispatchQueueScheduler(queue: DispatchQueue(label: internalSerialQueueName, qos: qos))
  }

  /// A scheduler on a new queue of the given quality of service.
  public convenience init(qos: DispatchQoS) {
    self.init(internalSerialQueueName: "streams.serial", qos: qos)
  }

  /// A scheduler on a new serial queue that runs on top of `queue`, which may be concurrent.
  public init(queue: DispatchQueue, internalSerialQueueName: String) {
    base = DispatchQueueScheduler(queue: DispatchQueue(label: internalSerialQueueName, target: queue))
  }

  /// The system's clock.
  public var now: Date { Date() }

  /// The system's monotonic clock, the one Dispatch's timers run by; it stands still while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the queue, after what was scheduled before.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }

  /// Runs `action` on the queue when `dueTime` has passed.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    base.scheduleRelative(dueTime, action)
  }
}
