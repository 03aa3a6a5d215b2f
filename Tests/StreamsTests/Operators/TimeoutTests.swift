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

  func test_forwardsTerminalEvents() {
    let generous = Duration.seconds(2000)
    checkPassThrough { source, time in source.timeout(generous, scheduler: time) }
  }

  func test_eachElementRestartsTheTimeout() {
    check("--a--b--c|", "--a--b--c|", until: 9) { source, time in source.timeout(.seconds(4), scheduler: time) }
  }
}

extension TimeoutTests {
  func test_otherTakesOver() {
    check("a------b|", "a----x|", until: 4) { source, time in
      source.timeout(.seconds(4), other: time.cold("-x|").asObservable(), scheduler: time)
    }
  }

  func test_otherDoesNotReplaceTheSourcesOwnError() {
    check("a#", "a#", until: 1) { source, time in
      source.timeout(.seconds(4), other: .just("x"), scheduler: time)
    }
  }

  func test_continuesWithAnyStreamType() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(
        time.cold("a----").timeout(.seconds(3), other: Single<String>.just("x").asObservable(), scheduler: time)),
      [.next(0, "a"), .next(3, "x"), .completed(3)])
  }
}
