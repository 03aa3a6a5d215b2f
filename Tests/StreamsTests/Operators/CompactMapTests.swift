import Streams
import StreamsTesting
import XCTest

final class CompactMapTests: OperatorTestCase {
  func test_dropsNil() {
    check("1-x-3|", "1---3|", until: 5) { source, _ in source.compactMap { Int($0) }.map { "\($0)" } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.compactMap { $0 } } }
}
