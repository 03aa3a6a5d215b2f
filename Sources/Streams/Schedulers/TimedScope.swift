/// A scope with one timer. A subclass keeps its state inside the drain, to which the timer also returns.
@usableFromInline
class TimedScope<Element: Sendable>: Scope, @unchecked Sendable {  // safe: see `drain`
  final let dueTime: Duration
  final let scheduler: any SchedulerType
  final let next: Observable<Element>.Next
  // Serializes source and timer, and guards all mutable state.
  @usableFromInline final let drain = Drain()
  private final let timer = SerialDisposable()
  // The number of the current timer. A late timer finds another number and is ignored (contract, law 22).
  private final var id = 0

  init(
    _ downstream: Subscription, _ dueTime: Duration, _ scheduler: any SchedulerType,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.dueTime = dueTime
    self.scheduler = scheduler
    self.next = next
    super.init(downstream)
    downstream.own(timer)
  }

  /// Replaces the timer by one that runs `action` after `wait`.
  final func arm(_ wait: Duration, _ action: @escaping @Sendable () -> Void) {
    id += 1
    let armed = id
    timer.disposable = scheduler.scheduleRelative(wait) { [self] in
      drain.run { [self] in if id == armed { action() } }
    }
  }

  final func disarm() {
    id += 1
    timer.disposable = Disposables.create()
  }
}
