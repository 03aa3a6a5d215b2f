import Streams
import StreamsTesting
import XCTest

final class TakeWhileTests: OperatorTestCase {
  func test_exclusive() { check("a-b-c|", "a-|", until: 2) { source, _ in source.takeWhile { $0 == "a" } } }

  func test_inclusive() {
    check("a-b-c|", "a-(b|)", until: 2) { source, _ in source.takeWhile(.inclusive) { $0 == "a" } }
  }

  func test_throwingPredicate() {
    check("a-b|", "#", until: 0) { source, _ in source.takeWhile { _ in throw TestError() } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.takeWhile { _ in true } } }
}
