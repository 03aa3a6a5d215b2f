import Streams
import StreamsTesting
import XCTest

final class ThrottleTests: OperatorTestCase {
  func test_emitsTheFirstAtOnceAndTheLatestWhenTheTimeIsOver() {
    check("abc----d---|", "a--c---d---|", until: 11) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_withoutLatestEmitsOnlyTheFirst() {
    check("abc----d---|", "a------d---|", until: 11) { source, time in
      source.throttle(.seconds(3), latest: false, scheduler: time)
    }
  }

  func test_latestStartsATimeOfItsOwn() {
    check("ab--cd--|", "a--b--d-|", until: 8) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_completionFollowsTheLastElement() {
    check("ab|", "a--(b|)", until: 2) { source, time in source.throttle(.seconds(3), scheduler: time) }
    check("a-|", "a-|", until: 2) { source, time in source.throttle(.seconds(3), scheduler: time) }
  }

  func test_errorComesAtOnce() {
    check("ab#", "a-#", until: 2) { source, time in source.throttle(.seconds(9), scheduler: time) }
  }
}
