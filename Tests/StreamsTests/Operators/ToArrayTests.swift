import Streams
import StreamsTesting
import XCTest

final class ToArrayTests: OperatorTestCase {
  func test_collectsAllOnCompletion() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("a-b|").toArray().asObservable()), [.next(3, ["a", "b"]), .completed(3)])
  }

  func test_errorEmitsNothing() {
    check("a-#", "--#", until: 2) { source, _ in source.toArray().map { $0.joined() }.asObservable() }
  }
}
