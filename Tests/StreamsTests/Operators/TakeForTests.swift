import Streams
import StreamsTesting
import XCTest

final class TakeForTests: OperatorTestCase {
  func test_completesAfterTheTime() {
    check("a--b--c|", "a--b|", until: 4) { source, time in source.take(for: .seconds(4), scheduler: time) }
  }

  func test_passesEndsThrough() {
    checkPassThrough { source, time in source.take(for: .seconds(2000), scheduler: time) }
  }
}
