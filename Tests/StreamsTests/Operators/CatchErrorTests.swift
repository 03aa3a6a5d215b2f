import Streams
import StreamsTesting
import XCTest

final class CatchErrorTests: OperatorTestCase {
  func test_continuesWithTheReplacement() {
    check("a-#", "a--b|", until: 2) { source, time in source.catchError { _ in time.cold("-b|").asObservable() } }
  }

  func test_justReturn() { check("a-#", "a-(b|)", until: 2) { source, _ in source.catchErrorJustReturn("b") } }

  func test_withoutErrorsItHasNoEffect() {
    check("a-|", "a-|", until: 2) { source, _ in source.catchError { throw $0 } }
    check("a-|", "a-|", until: 2) { source, _ in source.catchErrorJustReturn("b") }
  }

  func test_replacementIsDisposedWithTheSubscription() {
    let time = TestScheduler()
    let replacement = time.cold("------")
    _ = time.record(disposed: 5, time.cold("a-#").catchError { _ in replacement.asObservable() })
    XCTAssertEqual(replacement.subscriptions, [TestSubscription(2, 5)])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.catchError { throw $0 } } }
}
