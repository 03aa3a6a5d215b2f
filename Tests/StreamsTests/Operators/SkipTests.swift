import Streams
import StreamsTesting
import XCTest

final class SkipTests: OperatorTestCase {
  func test_dropsTheFirstElements() { check("abc|", "--c|", until: 3) { source, _ in source.skip(2) } }

  func test_forwardsTerminalEvents() {
    checkPassThrough { source, _ in source.skip(1) }
  }

  func test_forDropsElementsWithinTheTime() {
    check("ab--c--d|", "-------d|", until: 8) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_forASourceThatCompletesInTimeAlsoCompletes() {
    check("-a|", "--|", until: 2) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_forForwardsTerminalEvents() {
    checkPassThrough { source, time in source.skip(for: .seconds(2000), scheduler: time) }
  }
}
