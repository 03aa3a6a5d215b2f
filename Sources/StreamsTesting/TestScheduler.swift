import PortableFoundation
import Streams
import Synchronization

/// A moment of virtual time, in whole units of the scheduler's resolution.
public typealias TestTime = Int

/// A scheduler with a clock that only the test advances, so that hours of retries and timeouts pass immediately.
///
/// Work runs on the thread that calls `start()` or one of the `advance` methods. Items with the same time run in the
/// order in which they were scheduled (contract, law 22).
public final class TestScheduler: SchedulerType {
  /// The default time at which `start(create:)` calls its closure.
  public static let created = 100
  /// The default time at which `start(create:)` subscribes.
  public static let subscribed = 200
  /// The default time at which `start(create:)` disposes the subscription.
  public static let disposed = 1000

  /// Items are ordered by time, then by the order of scheduling.
  private struct Item: Comparable {
    let time: TestTime
    let id: Int

    static func < (a: Item, b: Item) -> Bool { (a.time, a.id) < (b.time, b.id) }
  }

  private struct State {
    var clock: TestTime
    var nextID = 0
    var running = false
    var items = Heap<Item>()
    // Separate from the items, so that the action of a cancelled item is released immediately.
    var actions: [Int: @Sendable () -> Void] = [:]
  }

  /// The duration of one unit of virtual time.
  public let resolution: Duration
  // Guards the clock and the items, which are taken out and run outside the lock.
  private let state: Locked<State>

  /// Creates a scheduler at time `initialClock`; durations are rounded up to whole units of `resolution`.
  public init(initialClock: TestTime = 0, resolution: Duration = .seconds(1)) {
    precondition(resolution > .zero, "the resolution of virtual time must be positive, not \(resolution)")
    self.resolution = resolution
    state = Locked(State(clock: initialClock))
  }

  /// The current virtual time.
  public var clock: TestTime { state.withLock { $0.clock } }

  /// The virtual time as a date: `clock` units after the reference date.
  public var now: Date {
    Date(timeIntervalSinceReferenceDate: resolution / .seconds(1) * Double(clock))
  }

  /// The virtual time as a duration: `clock` units.
  public var uptime: Duration {
    let clock = self.clock
    // Times beyond the range of `Duration` become `Int64.max` seconds, so that two of them can be added.
    return Double(clock) < Duration.seconds(Int64.max) / resolution ? resolution * clock : .seconds(Int64.max)
  }

  /// Runs `action` at the current virtual time, after the items that are already due.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduleAt(clock, action: action)
  }

  /// Runs `action` after `dueTime`, rounded up to whole units.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduleAt(Self.sum(clock, units(dueTime)), action: action)
  }

  /// Runs `action` at the virtual time `time`, or as soon as possible if `time` has passed.
  @discardableResult
  public func scheduleAt(_ time: TestTime, action: @escaping @Sendable () -> Void) -> any Disposable {
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.items.insert(Item(time: max(time, state.clock), id: id))
      state.actions[id] = action
      return id
    }
    return Disposables.create { [self] in state.release { $0.actions.removeValue(forKey: id) } }
  }

  /// Runs all scheduled items, including items that they schedule, and advances the clock.
  public func start() { run(until: .max) }

  /// Runs the items that are due up to and including `time`, then sets the clock to `time`.
  public func advanceTo(_ time: TestTime) {
    run(until: time)
    state.withLock { $0.clock = max($0.clock, time) }
  }

  /// Advances the clock by `units` and runs the items that are due by then.
  public func advanceBy(_ units: TestTime) { advanceTo(Self.sum(clock, units)) }

  /// Creates a stream, subscribes to it, runs all scheduled items and returns the observer.
  ///
  /// - Parameters:
  ///   - created: The time at which `create` is called.
  ///   - subscribed: The time at which the stream is subscribed.
  ///   - disposed: The time at which the subscription is disposed.
  ///   - create: A closure that returns the stream to observe.
  public func start<Element: Sendable>(
    created: TestTime = TestScheduler.created, subscribed: TestTime = TestScheduler.subscribed,
    disposed: TestTime = TestScheduler.disposed, create: @escaping @Sendable () -> Observable<Element>
  ) -> TestableObserver<Element> {
    let observer = createObserver(Element.self)
    // Guards the stream until the subscribing item takes it out.
    let source = Locked<Observable<Element>?>(nil)
    let subscription = SerialDisposable()
    scheduleAt(created) {
      let made = create()
      source.withLock { $0 = made }
    }
    scheduleAt(subscribed) {
      if let source = source.withLock({ $0.take() }) { subscription.disposable = source.subscribe(observer) }
    }
    scheduleAt(disposed) { subscription.dispose() }
    start()
    return observer
  }

  /// Returns `duration` in whole units, rounded up, or `Int.max` if it exceeds the range of the clock.
  private func units(_ duration: Duration) -> Int {
    guard duration > .zero else { return 0 }
    let exact = duration / resolution
    // Values computed from dates have an error of about 1e-10, which must not add a unit.
    let nearest = exact.rounded()
    let whole = nearest >= 1 && abs(exact - nearest) < 1e-6 ? nearest : exact.rounded(.up)
    return Int(exactly: whole) ?? .max
  }

  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (b > 0 ? .max : .min) : sum
  }

  private func run(until limit: TestTime) {
    let entered = state.withLock { state in
      defer { state.running = true }
      return !state.running
    }
    // Moving the clock from inside an item would run later items before earlier items.
    precondition(entered, "virtual time cannot be advanced from inside one of its items")
    while let action = next(until: limit) { action() }
    state.withLock { $0.running = false }
  }

  private func next(until limit: TestTime) -> (@Sendable () -> Void)? {
    state.withLock { state in
      while let first = state.items.first, first.time <= limit {
        state.items.removeFirst()
        guard let action = state.actions.removeValue(forKey: first.id) else { continue }
        state.clock = max(state.clock, first.time)
        return action
      }
      return nil
    }
  }
}
