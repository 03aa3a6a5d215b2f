import Streams
import StreamsTesting
import XCTest

final class FirstTests: OperatorTestCase {
  func test_first() throws {
    check("-ab|", "-(a|)", until: 1) { source, _ in source.first().map { $0 ?? "nil" }.asObservable() }
    XCTAssertNil(try Observable<Int>.empty().first().toBlocking().single())
  }
}
