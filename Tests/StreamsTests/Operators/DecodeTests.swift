import Foundation
import Streams
import StreamsTesting
import XCTest

final class DecodeTests: OperatorTestCase {
  func test_decodesAndFailsWithTheDecodersError() throws {
    let good = Observable.just(Data("[1,2]".utf8)).decode([Int].self, using: JSONDecoder())
    XCTAssertEqual(try good.toBlocking().single(), [1, 2])
    let bad = Observable.just(Data("[1,".utf8)).decode([Int].self, using: JSONDecoder())
    XCTAssertThrowsError(try bad.toBlocking().single()) { XCTAssertTrue($0 is DecodingError) }
  }
}
