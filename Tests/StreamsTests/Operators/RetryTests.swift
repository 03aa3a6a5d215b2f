import Streams
import StreamsTesting
import XCTest

final class RetryTests: OperatorTestCase {
  func test_succeedsAtALaterAttempt() {
    let time = TestScheduler()
    let attempts = Log<Int>()
    let source = Observable<String>.deferred {
      attempts.add(1)
      return time.cold(attempts.count < 3 ? "a-#" : "b|").asObservable()
    }
    XCTAssertEqual(
      time.record(source.retry(5)), [.next(0, "a"), .next(2, "a"), .next(4, "b"), .completed(5)])
    XCTAssertEqual(attempts.count, 3)
  }

  func test_disposeStopsTheAttemptInFlight() {
    let time = TestScheduler()
    let source = time.cold("-#")
    _ = time.record(disposed: 3, source.retry())
    XCTAssertEqual(source.subscriptions.last?.unsubscribe, 3)
  }

  func test_zeroAttemptsComplete() throws {
    XCTAssertEqual(try Observable<Int>.error(TestError()).retry(0).toBlocking().toArray(), [])
  }
}
