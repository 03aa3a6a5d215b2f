import Streams
import StreamsTesting
import XCTest

final class MapErrorTests: OperatorTestCase {
  func test_transformsTheError() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("a#").mapError { _ in TestError("mapped") }),
      [.next(0, "a"), .error(1, TestError("mapped"))])
    let throwing = TestScheduler()
    XCTAssertEqual(
      throwing.record(throwing.cold("a#").mapError { _ in throw TestError("thrown") }),
      [.next(0, "a"), .error(1, TestError("thrown"))])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.mapError { $0 } } }
}
