import PortableFoundation

/// A span of time, under RxSwift's name.
public typealias RxTimeInterval = Duration

/// Runs work, now or soon.
public protocol ImmediateSchedulerType: Sendable {
  /// Runs `action` as soon as the scheduler can.
  ///
  /// - Returns: a disposable that keeps `action` from starting and releases it.
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable
}

extension ImmediateSchedulerType {
  /// `schedule` for work that is never taken back: on a queue without the object that could.
  package var submit: @Sendable (@escaping @Sendable () -> Void) -> Void {
    guard let scheduler = self as? ConcurrentDispatchQueueScheduler else { return { [self] in _ = schedule($0) } }
    return { [queue = scheduler.base.queue] in queue.async(execute: $0) }
  }
}

/// Runs work now or at a later time.
public protocol SchedulerType: ImmediateSchedulerType {
  /// The scheduler's idea of the current time; virtual for a test scheduler.
  var now: Date { get }

  /// The time since some fixed moment, for measuring spans: it never goes back, however the clock is set. Virtual for a
  /// test scheduler.
  ///
  /// The default implementation follows `now`; implement it with a monotonic clock where `now` can be set.
  var uptime: Duration { get }

  /// Runs `action` when `dueTime` has passed; zero or less is as soon as it can.
  ///
  /// - Returns: a disposable that keeps `action` from starting and releases it.
  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable
}

extension SchedulerType {
  /// The time since the reference date by `now`.
  public var uptime: Duration { .seconds(now.timeIntervalSinceReferenceDate) }
}
