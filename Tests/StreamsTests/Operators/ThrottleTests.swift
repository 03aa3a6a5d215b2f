import Streams
import StreamsTesting
import XCTest

final class ThrottleTests: OperatorTestCase {
  func test_emitsTheFirstImmediatelyAndTheLatestAtTheEndOfThePeriod() {
    check("abc----d---|", "a--c---d---|", until: 11) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_withoutLatestEmitsOnlyTheFirst() {
    check("abc----d---|", "a------d---|", until: 11) { source, time in
      source.throttle(.seconds(3), latest: false, scheduler: time)
    }
  }

  func test_theLatestElementStartsANewPeriod() {
    check("ab--cd--|", "a--b--d-|", until: 8) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_completionFollowsTheLastElement() {
    check("ab|", "a--(b|)", until: 2) { source, time in source.throttle(.seconds(3), scheduler: time) }
    check("a-|", "a-|", until: 2) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_errorIsForwardedImmediately() {
    check("ab#", "a-#", until: 2) { source, time in source.throttle(.seconds(9), scheduler: time) }
  }

  func test_anElementAtTheEndOfThePeriodIsEmitted() {
    check("a--b--c-|", "a--b--c-|", until: 8) { source, time in
      source.throttle(.seconds(3), latest: false, scheduler: time)
    }
    check("a--b--c-|", "a--b--c-|", until: 8) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_anElementAfterThePeriodIsEmittedThoughTheTimerIsLate() {
    for latest in [true, false] {
      let clock = ManualScheduler()
      let source = PublishSubject<Int>()
      let log = Log<Int>()
      let subscription = source.throttle(.seconds(3), latest: latest, scheduler: clock).subscribe(
        onNext: { log.add($0) })
      source.onNext(1)
      clock.advance(.seconds(2))
      source.onNext(2)
      clock.advance(.seconds(2))
      source.onNext(3)
      XCTAssertEqual(log.all, [1, 3])
      clock.runDue()
      XCTAssertEqual(log.all, [1, 3], "what the newer element replaced is gone")
      subscription.dispose()
    }
  }
}
