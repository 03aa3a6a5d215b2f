extension Observable where Element: FixedWidthInteger & Sendable {
  /// Emits 0 after `dueTime`, then completes; with a `period`, continues counting forever.
  ///
  /// Each tick is timed from the subscription, to avoid drift. Elements are delivered on `scheduler`.
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

/// A timer that fires repeatedly at fixed intervals from its start.
private final class Timer: @unchecked Sendable {  // safe: only one scheduled item at a time uses `fired`
  private let subscription: Subscription
  private let period: Duration?
  private let dueTime: Duration
  private let scheduler: any SchedulerType
  private let start: Duration
  private let turn = Turn()
  private var fired = 0
  // The total by which sleep and clock changes have shifted the ticks.
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
    // The timer is off by more than a period: the machine slept, the clock was set, or the observer was slow. Continue
    // from now, instead of emitting the missed ticks or waiting for the clock.
    guard wait > period || wait < .zero - period else { return Swift.max(.zero, wait) }
    skew += period - wait
    return period
  }
}
