import PortableFoundation
import Streams
import Synchronization

/// A moment of virtual time, in whole units of the scheduler's resolution.
public typealias TestTime = Int

/// A scheduler whose clock only moves when the test says so: hours of retries and timeouts pass in no time.
///
/// Work runs on the thread that calls `start()` or one of the `advance` methods. Items of the same time run in the
/// order in which they were scheduled (law 22).
public final class TestScheduler: SchedulerType {
  /// The time at which `start(create:)` calls its closure, if none is given.
  public static let created = 100
  /// The time at which `start(create:)` subscribes, if none is given.
  public static let subscribed = 200
  /// The time at which `start(create:)` disposes, if none is given.
  public static let disposed = 1000

  private struct Item: Sendable {
    let time: TestTime
    let id: Int
  }

  private struct State {
    var clock: TestTime
    var nextID = 0
    var running = false
    // A binary heap by time, then by order of scheduling.
    var heap: [Item] = []
    // Apart from the heap, so that a cancelled one is released at once.
    var actions: [Int: @Sendable () -> Void] = [:]
  }

  /// What one unit of virtual time means when an operator asks for a `Duration`.
  public let resolution: Duration
  // Guards the clock and the items, which are taken out and run outside.
  private let state: Locked<State>

  /// A scheduler at `initialClock`; operators' durations are rounded up to whole units of `resolution`.
  public init(initialClock: TestTime = 0, resolution: Duration = .seconds(1)) {
    precondition(resolution > .zero, "the resolution of virtual time must be positive, not \(resolution)")
    self.resolution = resolution
    state = Locked(State(clock: initialClock))
  }

  /// The virtual time.
  public var clock: TestTime { state.withLock { $0.clock } }

  /// The virtual time as a date: `clock` units after the reference date.
  public var now: Date {
    Date(timeIntervalSinceReferenceDate: resolution / .seconds(1) * Double(clock))
  }

  /// The virtual time as a span: `clock` units.
  public var uptime: Duration {
    let clock = self.clock
    // What no duration can hold is the longest that sums of two still fit in.
    return Double(clock) < Duration.seconds(Int64.max) / resolution ? resolution * clock : .seconds(Int64.max)
  }

  /// Runs `action` at the current virtual time, after what is due then already.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduleAt(clock, action: action)
  }

  /// Runs `action` when `dueTime`, rounded up to whole units, has passed.
  public func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    scheduleAt(Self.sum(clock, units(dueTime)), action: action)
  }

  /// Runs `action` at the virtual `time`, or as soon as it can when that is past.
  @discardableResult
  public func scheduleAt(_ time: TestTime, action: @escaping @Sendable () -> Void) -> any Disposable {
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.heap.append(Item(time: max(time, state.clock), id: id))
      state.actions[id] = action
      Self.rise(&state.heap)
      return id
    }
    return Disposables.create { [self] in
      let dropped = state.withLock { $0.actions.removeValue(forKey: id) }
      withExtendedLifetime(dropped) {}  // released outside the lock
    }
  }

  /// Runs everything that is scheduled, and what that schedules, moving the clock along.
  public func start() { run(until: .max) }

  /// Runs what is due up to and including `time`, then sets the clock to `time`.
  public func advanceTo(_ time: TestTime) {
    run(until: time)
    state.withLock { $0.clock = max($0.clock, time) }
  }

  /// Runs what is due in the next `units` of virtual time, and moves the clock by as much.
  public func advanceBy(_ units: TestTime) { advanceTo(Self.sum(clock, units)) }

  /// Subscribes what `create` makes, runs everything, and returns what was observed.
  ///
  /// - Parameters:
  ///   - created: when `create` is called.
  ///   - subscribed: when the result is subscribed.
  ///   - disposed: when the subscription is disposed.
  ///   - create: makes the stream to observe.
  public func start<Element: Sendable>(
    created: TestTime = TestScheduler.created, subscribed: TestTime = TestScheduler.subscribed,
    disposed: TestTime = TestScheduler.disposed, create: @escaping @Sendable () -> Observable<Element>
  ) -> TestableObserver<Element> {
    let observer = createObserver(Element.self)
    // Guards the stream until the item that subscribes it takes it out.
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

  /// `duration` in whole units, rounded up; what no clock can hold is the last moment there is.
  private func units(_ duration: Duration) -> Int {
    guard duration > .zero else { return 0 }
    let exact = duration / resolution
    // What was computed from dates is off by some 1e-10: that makes no unit more.
    let nearest = exact.rounded()
    let whole = nearest >= 1 && abs(exact - nearest) < 1e-6 ? nearest : exact.rounded(.up)
    return whole < 0x1p62 ? Int(whole) : .max
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
    // Moving the clock from inside an item would run later items before earlier ones.
    precondition(entered, "virtual time cannot be advanced from inside an item that runs on it")
    while let action = next(until: limit) { action() }
    state.withLock { $0.running = false }
  }

  private func next(until limit: TestTime) -> (@Sendable () -> Void)? {
    state.withLock { state in
      while let first = state.heap.first, first.time <= limit {
        Self.removeFirst(&state.heap)
        guard let action = state.actions.removeValue(forKey: first.id) else { continue }
        state.clock = max(state.clock, first.time)
        return action
      }
      return nil
    }
  }

  private static func precedes(_ a: Item, _ b: Item) -> Bool { (a.time, a.id) < (b.time, b.id) }

  private static func rise(_ heap: inout [Item]) {
    var child = heap.count - 1
    while child > 0, precedes(heap[child], heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private static func removeFirst(_ heap: inout [Item]) {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(heap[child], heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
