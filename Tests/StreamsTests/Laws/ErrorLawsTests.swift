import Streams
import StreamsTesting
import XCTest

/// Laws 17 to 19: errors.
final class ErrorLawsTests: StreamsTestCase {
  func test_law17_throwingHandlersErrorGoesDownstream() {
    let events = Log<Event<Int>>()
    _ = Observable<Int>.error(TestError("first")).catchError { _ in throw TestError("second") }
      .subscribe { events.add($0) }
    XCTAssertEqual(events.all, [.error(TestError("second"))])
  }

  func test_law17_failingReplacementDoesNotReenterTheHandler() {
    let calls = Log<String>()
    let events = Log<Event<Int>>()
    _ = Observable<Int>.error(TestError("first"))
      .catchError { error in
        calls.add("\(error)")
        return .error(TestError("second"))
      }
      .subscribe { events.add($0) }
    XCTAssertEqual(calls.count, 1)
    XCTAssertEqual(events.all, [.error(TestError("second"))])
  }

  func test_law18_retryCountsAllAttemptsAndForwardsTheLastError() {
    let time = TestScheduler()
    let source = time.cold("a#")
    XCTAssertEqual(time.record(source.retry(3)), [.next(0, "a"), .next(1, "a"), .next(2, "a"), .error(3)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 1), TestSubscription(1, 2), TestSubscription(2, 3)])
    let once = TestScheduler()
    XCTAssertEqual(once.record(once.cold("a#").retry(1)), Marbles.parse("a#"))
  }

  func test_law18_aSingleWithoutAnAttemptHasNoElement() {
    for count in [0, -1] {
      let counter = Locked(0)
      let single = Single<Int>.deferred {
        counter.withLock { $0 += 1 }
        return .just(1)
      }
      XCTAssertThrowsError(try single.retry(count).toBlocking().single()) { error in
        XCTAssertEqual(error as? StreamError, .noElements)
      }
      XCTAssertEqual(counter.withLock { $0 }, 0)
    }
  }

  func test_law19_infiniteSynchronousRetryFollowedByTakeStops() throws {
    let attempts = Log<Int>()
    let source = Observable<Int>.create { observer in
      attempts.add(1)
      observer.onNext(attempts.count)
      observer.onError(TestError())
      return Disposables.create()
    }
    XCTAssertEqual(try source.retry().take(3).toBlocking().toArray(), [1, 2, 3])
    XCTAssertEqual(attempts.count, 3)
  }
}
