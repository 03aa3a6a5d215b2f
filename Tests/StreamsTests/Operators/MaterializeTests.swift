import Streams
import StreamsTesting
import XCTest

final class MaterializeTests: OperatorTestCase {
  func test_emitsEveryEventAsAnElement() throws {
    let events = try Observable.of(1).concat(Observable.error(TestError())).materialize().toBlocking().toArray()
    XCTAssertEqual(events, [.next(1), .error(TestError())])
    XCTAssertEqual(try Observable<Int>.empty().materialize().toBlocking().toArray(), [.completed])
  }
}
