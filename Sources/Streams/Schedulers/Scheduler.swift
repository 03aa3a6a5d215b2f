import PortableFoundation

/// A duration with the name that RxSwift uses.
public typealias RxTimeInterval = Duration

/// A scheduler that runs work as soon as possible.
public protocol ImmediateSchedulerType: Sendable {
  /// Runs `action` as soon as the scheduler can.
  ///
  /// - Returns: A disposable that prevents `action` from starting, and releases it.
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable
}

extension ImmediateSchedulerType {
  /// The function `schedule` for work that is never cancelled; on a queue, it allocates no object for cancellation.
  package var submit: @Sendable (@escaping @Sendable () -> Void) -> Void {
    guard let scheduler = self as? ConcurrentDispatchQueueScheduler else { return { [self] in _ = schedule($0) } }
    return { [queue = scheduler.base.queue] in queue.async(execute: $0) }
  }
}

/// A scheduler that runs work as soon as possible or after a delay.
public protocol SchedulerType: ImmediateSchedulerType {
  /// The current time of the scheduler; virtual for a test scheduler.
  var now: Date { get }

  /// The time since a fixed moment, for measuring durations. It never decreases, even if the clock is set back; virtual
  /// for a test scheduler.
  ///
  /// The default implementation follows `now`. If `now` can be set back, implement it with a monotonic clock.
  var uptime: Duration { get }

  /// Runs `action` after `dueTime`, or as soon as possible if `dueTime` is zero or negative.
  ///
  /// - Returns: A disposable that prevents `action` from starting, and releases it.
  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable
}

extension SchedulerType {
  /// The time since the reference date, according to `now`.
  public var uptime: Duration { .seconds(now.timeIntervalSinceReferenceDate) }
}
