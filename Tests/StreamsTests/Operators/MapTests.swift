import Streams
import StreamsTesting
import XCTest

final class MapTests: OperatorTestCase {
  func test_transformsEachElement() {
    check("a-b-c|", "A-B-C|", until: 5) { source, _ in source.map { $0.uppercased() } }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.map { $0 } } }

  func test_throwingClosureDisposesTheSource() {
    check("a-b-c|", "a-#", until: 2) { source, _ in
      source.map { name in
        if name == "b" { throw TestError() }
        return name
      }
    }
  }

  func test_disposeStopsTheStream() {
    check("a-b-c|", "a-b", until: 3, disposed: 3) { source, _ in source.map { $0 } }
  }
}
