import Streams
import StreamsTesting
import XCTest

final class StartWithTests: OperatorTestCase {
  func test_emitsFirst() { check("-a|", "(xy)a|", until: 2) { source, _ in source.startWith("x", "y") } }

  func test_errorFollows() { check("-#", "x#", until: 1) { source, _ in source.startWith("x") } }
}
