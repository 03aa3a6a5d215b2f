import Dispatch
import PortableFoundation

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
    timer.schedule(deadline: dueTime.dispatchDeadline)
    timer.resume()
  }

  func dispose() {
    timer.cancel()
    item.dispose()
  }
}

extension Duration {
  /// The time of Dispatch after this duration; never from 30 years on.
  ///
  /// A `DispatchTimeInterval` holds an `Int`: where that has 32 bits, its nanoseconds end after two seconds.
  var dispatchDeadline: DispatchTime {
    guard self < .seconds(1_000_000_000) else { return .distantFuture }
    return DispatchTime(uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds + inNanoseconds)
  }
}
