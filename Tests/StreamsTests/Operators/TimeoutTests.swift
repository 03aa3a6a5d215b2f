import Streams
import StreamsTesting
import XCTest

final class TimeoutTests: OperatorTestCase {
  func test_failsWhenNothingArrivesInTime() {
    let time = TestScheduler()
    let source = time.cold("------a|")
    XCTAssertEqual(
      time.record(source.timeout(.seconds(3), scheduler: time)), [.error(3, StreamError.timeout)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 3)])
  }

  func test_passesEndsThrough() {
    let generous = Duration.seconds(2000)
    checkPassThrough { source, time in source.timeout(generous, scheduler: time) }
  }

  func test_eachElementStartsTheTimeAnew() {
    check("--a--b--c|", "--a--b--c|", until: 9) { source, time in source.timeout(.seconds(4), scheduler: time) }
  }
}
