import Streams
import StreamsTesting
import XCTest

final class ConcatTests: OperatorTestCase {
  func test_subscribesTheSecondWhenTheFirstHasCompleted() {
    let time = TestScheduler()
    let first = time.cold("a-|")
    let second = time.cold("b-|")
    XCTAssertEqual(time.record(first.concat(second)), [.next(0, "a"), .next(2, "b"), .completed(4)])
    XCTAssertEqual(first.subscriptions, [TestSubscription(0, 2)])
    XCTAssertEqual(second.subscriptions, [TestSubscription(2, 4)])
  }

  func test_errorEndsAll() {
    let time = TestScheduler()
    let second = time.cold("b|")
    XCTAssertEqual(time.record(time.cold("a-#").concat(second)), Marbles.parse("a-#"))
    XCTAssertEqual(second.subscriptions, [])
  }

  func test_passesEndsThrough() { checkPassThrough { source, _ in source.concat(Observable.empty()) } }

  func test_ofNothingCompletes() throws {
    XCTAssertEqual(try Observable<Int>.concat([]).toBlocking().toArray(), [])
    XCTAssertEqual(try Observable.concat(.just(1), .of(2, 3)).toBlocking().toArray(), [1, 2, 3])
  }
}
