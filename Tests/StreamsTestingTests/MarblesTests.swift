import Streams
import StreamsTesting
import XCTest

final class MarblesTests: XCTestCase {
  func test_eachMarbleAndEachGroupTakesOneUnitOfTime() {
    XCTAssertEqual(
      Marbles.parse("-a(bc)-|"),
      [.next(1, "a"), .next(2, "b"), .next(2, "c"), .completed(4)])
    XCTAssertEqual(Marbles.parse("--#"), [.error(2)])
    XCTAssertEqual(Marbles.parse("---"), [])
  }
}
