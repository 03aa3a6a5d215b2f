import Streams
import StreamsTesting
import XCTest

final class ResultBridgeTests: StreamsTestCase {
  func test_results() throws {
    XCTAssertEqual(try Result<Int, TestError>.success(1).asSingle().toBlocking().single(), 1)
    XCTAssertThrowsError(try Result<Int, TestError>.failure(TestError()).asSingle().toBlocking().single())
    let result = try Single<Int>.error(TestError("x")).asResult().toBlocking().single()
    XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? TestError, TestError("x")) }
  }
}
