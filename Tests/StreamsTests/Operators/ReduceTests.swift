import Streams
import StreamsTesting
import XCTest

final class ReduceTests: OperatorTestCase {
  func test_emitsTheResultOnCompletion() {
    let time = TestScheduler()
    XCTAssertEqual(time.record(time.cold("a-b-c|").reduce("") { $0 + $1 }), [.next(5, "abc"), .completed(5)])
  }

  func test_anEmptySourceEmitsTheSeed() {
    check("--|", "--(s|)", until: 2) { source, _ in source.reduce("s") { $0 + $1 } }
  }

  func test_errorEmitsNothing() { check("a-#", "--#", until: 2) { source, _ in source.reduce("s") { $0 + $1 } } }

  func test_throwingAccumulatorDisposesTheSource() {
    check("a-b|", "#", until: 0) { source, _ in source.reduce("") { _, _ in throw TestError() } }
  }
}
