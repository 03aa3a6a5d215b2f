import Streams
import StreamsTesting
import XCTest

final class SerializeTests: OperatorTestCase {
  func test_serializeForwardsAllEvents() {
    check("a-b|", "a-b|", until: 3) { source, _ in source.serialize() }
    checkPassThrough { source, _ in source.serialize() }
  }
}
