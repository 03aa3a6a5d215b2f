import Streams
import StreamsTesting
import XCTest

final class SkipTests: OperatorTestCase {
  func test_leavesOutTheFirst() { check("abc|", "--c|", until: 3) { source, _ in source.skip(2) } }

  func test_whilePredicateHolds() {
    check("aba|", "-ba|", until: 3) { source, _ in source.skipWhile { $0 == "a" } }
    check("a|", "#", until: 0) { source, _ in source.skipWhile { _ in throw TestError() } }
  }

  func test_untilAnotherEmits() {
    let time = TestScheduler()
    let trigger = time.cold("--x-x|")
    XCTAssertEqual(time.record(time.cold("ab-c|").skipUntil(trigger)), Marbles.parse("---c|"))
    XCTAssertEqual(trigger.subscriptions, [TestSubscription(0, 2)], "law 16: disposed with its first element")
  }

  func test_untilFails() {
    check("a--b|", "-#", until: 1) { source, time in source.skip(1).skipUntil(time.cold("-#")) }
  }

  func test_passesEndsThrough() {
    checkPassThrough { source, _ in source.skip(1) }
    checkPassThrough { source, _ in source.skipWhile { _ in false } }
    checkPassThrough { source, _ in source.skipUntil(Observable.just(1)) }
  }
}
