import Streams
import StreamsTesting
import XCTest

final class ElementAtTests: OperatorTestCase {
  func test_elementAt() {
    check("abc|", "-(b|)", until: 1) { source, _ in source.elementAt(1) }
    let time = TestScheduler()
    XCTAssertEqual(time.record(time.cold("a|").elementAt(1)), [.error(1, StreamError.noElements)])
  }

  func test_elementAt_ofANegativeIndexFails() {
    for index in [-1, -5, Int.min] {
      XCTAssertThrowsError(try Observable.of(10, 20).elementAt(index).toBlocking().toArray()) {
        XCTAssertEqual($0 as? StreamError, .noElements)
      }
    }
  }
}
