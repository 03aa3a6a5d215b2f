import Streams
import StreamsTesting
import XCTest

final class DelaySubscriptionTests: StreamsTestCase {
  func test_delaySubscription() {
    let time = TestScheduler()
    let source = time.cold("a-b|")
    XCTAssertEqual(time.record(source.delaySubscription(.seconds(3), scheduler: time)), Marbles.parse("---a-b|"))
    XCTAssertEqual(source.subscriptions, [TestSubscription(3, 6)])
  }
}
