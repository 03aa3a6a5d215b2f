import Streams
import StreamsTesting
import XCTest

final class EnumeratedTests: OperatorTestCase {
  func test_countsFromZero() {
    check("abc|", "012|", until: 3) { source, _ in source.enumerated().map { "\($0.index)" } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.enumerated().map(\.element) } }
}
