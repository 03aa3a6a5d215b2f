import HTTPTransport
import XCTest

final class ResponsePassingTests: XCTestCase {
  func test_temporaryStatuses_areThoseOfTheTable() {
    let passing = (0...1000).filter(Response.isPassing)
    XCTAssertEqual(passing.prefix(3), [408, 425, 429])
    XCTAssertEqual(passing.dropFirst(3).map { $0 }, (500...599).filter { $0 != 501 && $0 != 505 })
  }
}
