import Streams
import StreamsTesting
import XCTest

final class SkipUntilTests: OperatorTestCase {
  func test_untilAnotherEmits() {
    let time = TestScheduler()
    let trigger = time.cold("--x-x|")
    XCTAssertEqual(time.record(time.cold("ab-c|").skipUntil(trigger)), Marbles.parse("---c|"))
    XCTAssertEqual(trigger.subscriptions, [TestSubscription(0, 2)], "law 16: disposed with its first element")
  }

  func test_untilFails() {
    check("a--b|", "-#", until: 1) { source, time in source.skip(1).skipUntil(time.cold("-#")) }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.skipUntil(Observable.just(1)) } }
}
