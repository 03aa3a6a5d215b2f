import Foundation
import Streams
import StreamsTesting
import XCTest

/// A scheduler with a clock that the test sets and that can jump.
private final class JumpingClock: SchedulerType {
  private struct State {
    var now = Date(timeIntervalSinceReferenceDate: 0)
    var waits: [Duration] = []
    var next: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  var now: Date { state.withLock { $0.now } }
  var waits: [Duration] { state.withLock { $0.waits } }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { scheduleRelative(.zero, action) }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    let number = state.withLock { state in
      state.waits.append(dueTime)
      state.next = action
      return state.waits.count
    }
    return Disposables.create { [self] in
      // Only the newest item is still held.
      let dropped = state.withLock { $0.waits.count == number ? $0.next.take() : nil }
      withExtendedLifetime(dropped) {}
    }
  }

  /// Runs the scheduled item `seconds` after the previous one.
  func fire(after seconds: Double) {
    let action = state.withLock { state in
      state.now += seconds
      return state.next.take()
    }
    action?()
  }
}

final class TimerTests: StreamsTestCase {
  func test_emitsOnceOrContinuesCounting() {
    let time = TestScheduler()
    let once = Observable<Int>.timer(.seconds(3), scheduler: time)
    XCTAssertEqual(time.record(once), [.next(3, 0), .completed(3)])
    let again = TestScheduler()
    let counting = Observable<Int>.timer(.seconds(3), period: .seconds(2), scheduler: again)
    XCTAssertEqual(again.record(disposed: 8, counting), [.next(3, 0), .next(5, 1), .next(7, 2)])
  }

  func test_missedTicksAreSkipped() {
    let clock = JumpingClock()
    let log = Log<Int>()
    let subscription = Observable<Int>.interval(.seconds(1), scheduler: clock).subscribe(onNext: { log.add($0) })
    clock.fire(after: 1)
    clock.fire(after: 8 * 3600)
    for _ in 0..<3 { clock.fire(after: 1) }
    XCTAssertEqual(clock.waits, [.seconds(1), .seconds(1), .seconds(1), .seconds(1), .seconds(1), .seconds(1)])
    XCTAssertEqual(log.all, [0, 1, 2, 3, 4])
    subscription.dispose()
  }

  func test_settingTheClockBackDoesNotStopIt() {
    let clock = JumpingClock()
    let subscription = Observable<Int>.interval(.seconds(1), scheduler: clock).subscribe()
    clock.fire(after: 1)
    clock.fire(after: -3600)
    clock.fire(after: 1)
    XCTAssertEqual(clock.waits, Array(repeating: .seconds(1), count: 4))
    subscription.dispose()
  }

  func test_smallDelaysDoNotCauseDrift() {
    let clock = JumpingClock()
    let subscription = Observable<Int>.interval(.seconds(1), scheduler: clock).subscribe()
    clock.fire(after: 1.25)
    clock.fire(after: 0.75)
    XCTAssertEqual(clock.waits, [.seconds(1), .milliseconds(750), .seconds(1)])
    subscription.dispose()
  }

  func test_virtualTicksAreExactInFractionsOfASecond() {
    let time = TestScheduler(resolution: .milliseconds(1))
    let observer = time.start(disposed: 900) { Observable<Int>.interval(.milliseconds(100), scheduler: time) }
    XCTAssertEqual(observer.events.map(\.time), [300, 400, 500, 600, 700, 800])
  }

  func test_infiniteTimesNeitherTrapNorPass() {
    for resolution in [Duration.milliseconds(1), .seconds(1), .seconds(100)] {
      let time = TestScheduler(resolution: resolution)
      let source = Observable.just(1).concat(Observable.never()).timeout(.seconds(Int64.max), scheduler: time)
      XCTAssertEqual(time.record(disposed: 10, source), [.next(0, 1)])
      time.advanceBy(.max)
      _ = time.now
    }
  }

  func test_withoutTimeSpanOnlyTheCountApplies() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("(ab)c|").buffer(timeSpan: .zero, count: 2, scheduler: time)),
      [.next(0, ["a", "b"]), .next(2, ["c"]), .completed(2)])
    let burst = TestScheduler()
    XCTAssertEqual(
      burst.record(burst.cold("(abc)|").throttle(.zero, scheduler: burst)), Marbles.parse("(abc)|"))
  }

  func test_settingTheWallClockForwardCausesNoEarlyTick() {
    let clock = ManualScheduler()
    let subscription = Observable<Int>.interval(.seconds(3600), scheduler: clock).subscribe()
    clock.setWall(forwardBy: 3000)
    clock.advance(.seconds(3600))
    clock.runDue()
    XCTAssertEqual(clock.waits, [.seconds(3600), .seconds(3600)])
    subscription.dispose()
  }
}
