import Streams
import StreamsTesting
import XCTest

final class SkipForTests: OperatorTestCase {
  func test_leavesOutWhatComesWithinTheTime() {
    check("ab--c--d|", "-------d|", until: 8) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_aSourceThatEndsWithinTheTimeEndsThen() {
    check("-a|", "--|", until: 2) { source, time in source.skip(for: .seconds(5), scheduler: time) }
  }

  func test_passesEndsThrough() {
    checkPassThrough { source, time in source.skip(for: .seconds(2000), scheduler: time) }
  }
}
