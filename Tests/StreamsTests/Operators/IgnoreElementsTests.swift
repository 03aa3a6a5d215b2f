import Streams
import StreamsTesting
import XCTest

final class IgnoreElementsTests: OperatorTestCase {
  func test_ignoreElements() {
    check("ab|", "--|", until: 2) { source, _ in source.ignoreElements().andThen(Observable<String>.empty()) }
    check("ab#", "--#", until: 2) { source, _ in source.ignoreElements().andThen(Observable<String>.empty()) }
  }
}
