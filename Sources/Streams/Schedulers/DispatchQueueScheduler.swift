import Dispatch
import PortableFoundation

/// The common implementation of the schedulers that use a dispatch queue.
struct DispatchQueueScheduler: Sendable {
  let queue: DispatchQueue

  static var uptime: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let item = ScheduledItem(action)
    queue.async { item.run() }
    return item
  }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    guard dueTime > .zero else { return schedule(action) }
    return TimerItem(queue: queue, dueTime: dueTime, action)
  }
}

/// A unit of work that a dispatch timer runs.
private final class TimerItem: Disposable, @unchecked Sendable {  // safe: Dispatch sources may be used from any thread
  // A timer source instead of `asyncAfter`: cancelling it frees it immediately, not at its deadline.
  private let timer: any DispatchSourceTimer
  private let item: ScheduledItem

  init(queue: DispatchQueue, dueTime: Duration, _ action: @escaping @Sendable () -> Void) {
    timer = DispatchSource.makeTimerSource(queue: queue)
    item = ScheduledItem(action)
    timer.setEventHandler { [self] in
      timer.cancel()
      item.run()
    }
    timer.schedule(deadline: .now() + dueTime.dispatchInterval)
    timer.resume()
  }

  func dispose() {
    timer.cancel()
    item.dispose()
  }
}

extension Duration {
  /// This duration for Dispatch, in whole nanoseconds, at most 292 years.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (nanoseconds, more) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return .nanoseconds(overflow || more ? .max : Int(clamping: nanoseconds))
  }
}
