import Streams
import StreamsTesting
import XCTest

final class TestSchedulerTests: XCTestCase {
  func test_defaultTimesAreThoseOfRxTest() {
    XCTAssertEqual([TestScheduler.created, TestScheduler.subscribed, TestScheduler.disposed], [100, 200, 1000])
  }

  func test_law22_sameTimeItemsRunInTheOrderOfScheduling() {
    let time = TestScheduler()
    let log = time.createObserver(Int.self)
    for index in 0..<20 { time.scheduleAt(5) { log.onNext(index) } }
    time.scheduleAt(1) { log.onNext(-1) }
    time.start()
    XCTAssertEqual(log.elements, [-1] + Array(0..<20))
    XCTAssertEqual(time.clock, 5)
  }

  func test_law22_advanceToReachesItsTimeWithoutDueItems() {
    let time = TestScheduler()
    time.advanceTo(7)
    XCTAssertEqual(time.clock, 7)
    XCTAssertEqual(time.uptime, .seconds(7))
    let log = time.createObserver(TestTime.self)
    _ = time.scheduleRelative(.seconds(2)) { log.onNext(time.clock) }
    time.advanceBy(5)
    XCTAssertEqual(log.elements, [9])
    XCTAssertEqual(time.clock, 12)
    time.advanceTo(3)
    XCTAssertEqual(time.clock, 12, "it never goes back")
  }

  func test_durations_areRoundedUpToWholeUnits_butNotForAnErrorOfCalculation() {
    let error = Duration(secondsComponent: 0, attosecondsComponent: 100_000_000)
    let durations: [(Duration, TestTime)] = [
      (.zero, 0), (.seconds(-1), 0), (error, 1), (.milliseconds(999), 1), (.seconds(1), 1), (.seconds(1) + error, 1),
      (.milliseconds(1001), 2), (.seconds(7) + error, 7), (.seconds(Int64.max), .max),
    ]
    for (duration, expected) in durations {
      let time = TestScheduler()
      _ = time.scheduleRelative(duration) {}
      time.start()
      XCTAssertEqual(time.clock, expected, "\(duration)")
    }
  }
}
