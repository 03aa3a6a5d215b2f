import Foundation
import Streams

/// A scheduler that counts its items and has wall and monotonic clocks that the test sets; items run only in
/// `runDue()`, however late.
final class ManualScheduler: SchedulerType {
  private struct State {
    var uptime = Duration.zero
    var wall = Date(timeIntervalSinceReferenceDate: 0)
    var waits: [Duration] = []
    var items: [Item] = []
    var nextID = 0
    var alive = 0
  }

  private final class Item: Disposable {
    let id: Int
    let due: Duration
    private let action: Locked<(@Sendable () -> Void)?>
    private let scheduler: ManualScheduler

    init(_ id: Int, _ due: Duration, _ scheduler: ManualScheduler, _ action: @escaping @Sendable () -> Void) {
      self.id = id
      self.due = due
      self.scheduler = scheduler
      self.action = Locked(action)
    }

    deinit { scheduler.state.withLock { $0.alive -= 1 } }

    func run() { action.withLock { $0.take() }?() }

    func dispose() {
      if scheduler.ignoresDispose { return }
      let left = scheduler.state.withLock { state in
        let left = state.items.filter { $0 === self }
        state.items.removeAll { $0 === self }
        return left
      }
      let dropped = action.withLock { $0.take() }
      withExtendedLifetime((dropped, left)) {}
    }
  }

  private let state = Locked(State())
  private let ignoresDispose: Bool

  /// - Parameter ignoresDispose: Whether items run although they have been disposed, as late timers do.
  init(ignoresDispose: Bool = false) { self.ignoresDispose = ignoresDispose }

  var now: Date { state.withLock { $0.wall } }
  var uptime: Duration { state.withLock { $0.uptime } }

  /// The items that have neither run nor been disposed.
  var pending: Int { state.withLock { $0.items.count } }
  /// The disposables of all items that are still referenced.
  var alive: Int { state.withLock { $0.alive } }
  /// The due time of every item so far.
  var waits: [Duration] { state.withLock { $0.waits } }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { scheduleRelative(.zero, action) }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    state.withLock { state in
      state.waits.append(dueTime)
      let item = Item(state.nextID, state.uptime + max(.zero, dueTime), self, action)
      state.nextID += 1
      state.alive += 1
      state.items.append(item)
      return item
    }
  }

  /// Advances both clocks without running anything.
  func advance(_ span: Duration) {
    state.withLock { state in
      state.uptime += span
      state.wall += span / .seconds(1)
    }
  }

  /// Sets only the wall clock.
  func setWall(forwardBy seconds: Double) { state.withLock { $0.wall += seconds } }

  /// Runs the due items in order, including those that become due in the meantime.
  func runDue() {
    while let item = nextDue() { item.run() }
  }

  private func nextDue() -> Item? {
    state.withLock { state in
      let due = state.items.indices.filter { state.items[$0].due <= state.uptime }
      guard let index = due.min(by: { (state.items[$0].due, $0) < (state.items[$1].due, $1) }) else { return nil }
      return state.items.remove(at: index)
    }
  }
}
