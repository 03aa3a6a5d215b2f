import Streams
import StreamsTesting
import XCTest

final class TakeLastTests: OperatorTestCase {
  func test_emitsTheLastElementsOnCompletion() {
    check("abc|", "---(bc|)", until: 3) { source, _ in source.takeLast(2) }
  }

  func test_errorEmitsNothing() { check("ab#", "--#", until: 2) { source, _ in source.takeLast(2) } }

  func test_ofZeroEmitsNothing() { check("ab|", "--|", until: 2) { source, _ in source.takeLast(0) } }

  func test_stopsWhenDownstreamEndsTheSubscription() throws {
    XCTAssertEqual(try Observable.range(start: 0, count: 9).takeLast(3).take(1).toBlocking().toArray(), [6])
  }
}
