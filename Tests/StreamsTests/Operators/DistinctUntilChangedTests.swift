import Streams
import StreamsTesting
import XCTest

final class DistinctUntilChangedTests: OperatorTestCase {
  func test_dropsRepeatedElements() {
    check("aabba|", "a-b-a|", until: 5) { source, _ in source.distinctUntilChanged() }
  }

  func test_byKey() {
    check("aAbB|", "a-b-|", until: 4) { source, _ in source.distinctUntilChanged { $0.lowercased() } }
  }

  func test_byComparer() {
    check("aAbB|", "a-b-|", until: 4) { source, _ in
      source.distinctUntilChanged { $0.lowercased() == $1.lowercased() }
    }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.distinctUntilChanged() } }
}
