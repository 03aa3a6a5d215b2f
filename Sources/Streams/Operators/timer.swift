extension Observable where Element: FixedWidthInteger & Sendable {
  /// Emits 0 after `dueTime`, then completes; with a `period`, goes on counting without end.
  ///
  /// Ticks are timed from the subscription, so that they do not drift. Delivered on `scheduler`.
  ///
  ///     timer(3, period 2): ---0-1-2-
  public static func timer(
    _ dueTime: Duration, period: Duration? = nil, scheduler: any SchedulerType
  ) -> Observable<Element> {
    Observable(push: { subscription, next in
      let ticker = Timer(subscription, dueTime: dueTime, period: period, scheduler: scheduler)
      let tick = Cell<Element>(0)
      ticker.arm {
        let count = tick.value
        tick.value &+= 1
        subscription.deliver(count, to: next)
        if period == nil { subscription.complete() }
      }
    })
  }
}

/// Fires again and again at fixed distances from its start.
private final class Timer: @unchecked Sendable {  // safe: `fired` is touched by one scheduled item at a time
  private let subscription: Subscription
  private let period: Duration?
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let start: Duration
  private let turn = Turn()
  private var fired = 0
  // How far the ticks have been moved by sleep and by clocks that were set.
  private var skew = Duration.zero

  init(_ subscription: Subscription, dueTime: Duration, period: Duration?, scheduler: any SchedulerType) {
    self.subscription = subscription
    self.dueTime = dueTime
    self.period = period
    self.scheduler = scheduler
    start = scheduler.uptime
    subscription.own(turn)
  }

  func arm(_ tick: @escaping @Sendable () -> Void) {
    turn.arm {
      scheduler.scheduleRelative(nextWait()) { [self] in
        guard !subscription.isStopped else { return }
        fired += 1
        tick()
        if period != nil, !subscription.isStopped { arm(tick) }
      }
    }
  }

  private func nextWait() -> Duration {
    guard let period, fired > 0 else { return dueTime }
    let elapsed = scheduler.uptime - start
    let wait = dueTime + period * fired - elapsed + skew
    // More than a period off: the machine slept, the clock was set, or the observer was slow. Go on from now, instead of
    // making up for missed ticks or waiting for the clock.
    guard wait > period || wait < .zero - period else { return Swift.max(.zero, wait) }
    skew += period - wait
    return period
  }
}
