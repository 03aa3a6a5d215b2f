import Streams
import StreamsTesting
import XCTest

final class FilterTests: OperatorTestCase {
  func test_emitsElementsThatSatisfyThePredicate() {
    check("a-b-a|", "a---a|", until: 5) { source, _ in source.filter { $0 == "a" } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.filter { _ in true } } }

  func test_throwingPredicateDisposesTheSource() {
    check("a-b-c|", "#", until: 0) { source, _ in source.filter { _ in throw TestError() } }
  }
}
