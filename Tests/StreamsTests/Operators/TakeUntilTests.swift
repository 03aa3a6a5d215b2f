import Streams
import StreamsTesting
import XCTest

final class TakeUntilTests: OperatorTestCase {
  func test_completesWhenTheOtherEmits() {
    check("a--b--c|", "a--b|", until: 4) { source, time in source.takeUntil(time.cold("----x|")) }
  }

  func test_completionOfTheOtherHasNoEffect() {
    check("a--b|", "a--b|", until: 4) { source, time in source.takeUntil(time.cold("-|")) }
  }

  func test_errorOfTheOtherFailsTheStream() {
    check("a--b|", "a-#", until: 2) { source, time in source.takeUntil(time.cold("--#")) }
  }

  func test_otherThatEmitsImmediatelyKeepsTheSourceUnsubscribed() {
    let time = TestScheduler()
    let source = time.cold("a|")
    XCTAssertEqual(time.record(source.takeUntil(Observable.just(1))), [.completed(0)])
    XCTAssertEqual(source.subscriptions, [])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.takeUntil(Observable<Int>.never()) } }
}
