import Streams
import StreamsTesting
import XCTest

final class SkipTests: OperatorTestCase {
  func test_leavesOutTheFirst() { check("abc|", "--c|", until: 3) { source, _ in source.skip(2) } }

  func test_passesEndsThrough() {
    checkPassThrough { source, _ in source.skip(1) }
  }

  func test_forLeavesOutWhatComesWithinTheTime() {
    check("ab--c--d|", "-------d|", until: 8) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_forASourceThatEndsWithinTheTimeEndsThen() {
    check("-a|", "--|", until: 2) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_forPassesEndsThrough() {
    checkPassThrough { source, time in source.skip(for: .seconds(2000), scheduler: time) }
  }
}
