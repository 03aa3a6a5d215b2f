import Dispatch
import PortableFoundation

/// A scheduler that runs one item at a time, in order, on a serial dispatch queue.
public final class SerialDispatchQueueScheduler: SchedulerType {
  private let base: DispatchQueueScheduler

  /// Creates a scheduler for a new queue with the label `internalSerialQueueName`.
  public init(internalSerialQueueName: String, qos: DispatchQoS = .unspecified) {
    base = DispatchQueueScheduler(queue: DispatchQueue(label: internalSerialQueueName, qos: qos))
  }

  /// Creates a scheduler for a new queue with quality of service `qos`.
  public convenience init(qos: DispatchQoS) {
    self.init(internalSerialQueueName: "streams.serial", qos: qos)
  }

  /// Creates a scheduler for a new serial queue that targets `queue`, which may be concurrent.
  public init(queue: DispatchQueue, internalSerialQueueName: String) {
    base = DispatchQueueScheduler(queue: DispatchQueue(label: internalSerialQueueName, target: queue))
  }

  /// The current time of the system clock.
  public var now: Date { Date() }

  /// The time of the system's monotonic clock, which Dispatch timers use; it does not advance while the machine sleeps.
  public var uptime: Duration { DispatchQueueScheduler.uptime }

  /// Runs `action` on the queue, after all items scheduled earlier.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }

  /// Runs `action` on the queue after `dueTime`.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    base.scheduleRelative(dueTime, action)
  }
}
