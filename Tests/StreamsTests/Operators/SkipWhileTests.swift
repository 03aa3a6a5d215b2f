import Streams
import StreamsTesting
import XCTest

final class SkipWhileTests: OperatorTestCase {
  func test_whilePredicateHolds() {
    check("aba|", "-ba|", until: 3) { source, _ in source.skipWhile { $0 == "a" } }
    check("a|", "#", until: 0) { source, _ in source.skipWhile { _ in throw TestError() } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.skipWhile { _ in false } } }
}
