import Streams
import StreamsTesting
import XCTest

final class FlatMapFirstTests: OperatorTestCase {
  func test_law14_ignoresElementsWhileAnInnerIsActive() {
    let time = TestScheduler()
    let inner = time.cold("x-x|")
    XCTAssertEqual(
      time.record(time.cold("ab--c|").flatMapFirst { name in inner.map { name + $0 } }),
      [.next(0, "ax"), .next(2, "ax"), .next(4, "cx"), .next(6, "cx"), .completed(7)])
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 3), TestSubscription(4, 7)])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.flatMapFirst { Observable.just($0) } } }
}
