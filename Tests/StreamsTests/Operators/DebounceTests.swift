import Streams
import StreamsTesting
import XCTest

final class DebounceTests: OperatorTestCase {
  func test_emitsWhenNoOtherElementFollowsInTime() {
    check("ab----c---|", "---b----c-|", until: 10) { source, time in source.debounce(.seconds(2), scheduler: time) }
  }

  func test_completionEmitsThePendingElement() {
    check("a|", "-(a|)", until: 1) { source, time in source.debounce(.seconds(5), scheduler: time) }
  }

  func test_errorDropsThePendingElement() {
    check("a#", "-#", until: 1) { source, time in source.debounce(.seconds(5), scheduler: time) }
  }

  func test_disposeDropsThePendingElement() {
    check("a----", "", until: 1, disposed: 1) { source, time in source.debounce(.seconds(3), scheduler: time) }
  }
}
