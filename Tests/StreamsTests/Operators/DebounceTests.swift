import Streams
import StreamsTesting
import XCTest

final class DebounceTests: OperatorTestCase {
  func test_emitsWhenNothingFollowsForTheTime() {
    check("ab----c---|", "---b----c-|", until: 10) { source, time in source.debounce(.seconds(2), scheduler: time) }
  }

  func test_completionEmitsWhatIsWaiting() {
    check("a|", "-(a|)", until: 1) { source, time in source.debounce(.seconds(5), scheduler: time) }
  }

  func test_errorDropsWhatIsWaiting() {
    check("a#", "-#", until: 1) { source, time in source.debounce(.seconds(5), scheduler: time) }
  }

  func test_disposeDropsWhatIsWaiting() {
    check("a----", "", until: 1, disposed: 1) { source, time in source.debounce(.seconds(3), scheduler: time) }
  }
}
