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

extension CatchErrorTests {
  func test_ofAListEmitsTheFirstThatDoesNotFail() {
    let time = TestScheduler()
    let last = time.cold("c|")
    XCTAssertEqual(
      time.record(Observable.catchError([time.cold("a#"), time.cold("b|"), last].map { $0.asObservable() })),
      [.next(0, "a"), .next(1, "b"), .completed(2)])
    XCTAssertEqual(last.subscriptions, [])
    let failing = Observable<Int>.catchError([.error(TestError("1")), .error(TestError("2"))])
    XCTAssertThrowsError(try failing.toBlocking().toArray()) { XCTAssertEqual($0 as? TestError, TestError("2")) }
    XCTAssertEqual(try Observable<Int>.catchError([]).toBlocking().toArray(), [])
  }
}
