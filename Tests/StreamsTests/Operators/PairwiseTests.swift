import Streams
import StreamsTesting
import XCTest

final class PairwiseTests: OperatorTestCase {
  func test_emitsEachElementWithThePreviousOne() throws {
    let pairs = try Observable.of(1, 2, 3).pairwise().toBlocking().toArray()
    XCTAssertEqual(pairs.map(\.0), [1, 2])
    XCTAssertEqual(pairs.map(\.1), [2, 3])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.pairwise().map(\.0) } }
}
