import Streams
import StreamsTesting
import XCTest

final class RetryPolicyTests: OperatorTestCase {
  private func policy(_ time: TestScheduler, attempts: Int) -> RetryPolicy {
    RetryPolicy(
      attempts: attempts, initialDelay: .seconds(2), multiplier: 3, maxDelay: .seconds(10),
      jitter: { $0.upperBound }, scheduler: time)
  }

  func test_waitsLongerAfterEachAttemptUpToTheCap() {
    let time = TestScheduler()
    let source = time.cold("#")
    XCTAssertEqual(time.record(source.retry(policy(time, attempts: 4))), [.error(18)])
    XCTAssertEqual(source.subscriptions.map(\.subscribe), [0, 2, 8, 18], "pauses of 2, 6 and 10, not 18")
  }

  func test_withoutADelayThereIsNoneAfterAnyNumberOfAttempts() {
    let policy = RetryPolicy(attempts: .max, initialDelay: .zero)
    for attempt in [1, 2, 1024, 1025, 1_000_000] {
      XCTAssertEqual(policy.delay(after: TestError(), attempt: attempt), .zero)
    }
    let long = RetryPolicy(attempts: .max, maxDelay: .seconds(30), jitter: { $0.upperBound })
    XCTAssertEqual(long.delay(after: TestError(), attempt: 2000), .seconds(30))
  }

  func test_jitterPicksFromZeroToTheUpperBound() {
    let time = TestScheduler()
    let asked = Log<ClosedRange<Double>>()
    var policy = policy(time, attempts: 3)
    policy.jitter = { range in
      asked.add(range)
      return range.lowerBound
    }
    XCTAssertEqual(time.record(time.cold("#").retry(policy)), [.error(0)])
    XCTAssertEqual(asked.all, [0...2, 0...6])
  }

  func test_errorsThatThePolicyRejectsAreNotRetried() {
    let time = TestScheduler()
    var policy = policy(time, attempts: 9)
    policy.shouldRetry = { $0 as? TestError == TestError("worth it") }
    XCTAssertEqual(time.record(time.cold("a#").retry(policy)), Marbles.parse("a#"))
  }

  func test_disposeDuringADelayStartsNoOtherAttempt() {
    let time = TestScheduler()
    let source = time.cold("#")
    _ = time.record(disposed: 1, source.retry(policy(time, attempts: 3)))
    XCTAssertEqual(source.subscriptions.count, 1)
  }

  func test_extremeNumbersNeitherTrapNorOverflow() {
    let time = TestScheduler()
    let policy = RetryPolicy(
      attempts: 1_000_000, initialDelay: .seconds(Int64.max / 4), multiplier: .infinity, maxDelay: .seconds(1),
      jitter: { $0.upperBound }, scheduler: time)
    let source = time.cold("#")
    _ = time.record(disposed: 50, source.retry(policy))
    XCTAssertEqual(source.subscriptions.count, 50)
  }
}
