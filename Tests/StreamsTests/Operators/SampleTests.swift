import Streams
import StreamsTesting
import XCTest

final class SampleTests: OperatorTestCase {
  func test_emitsTheLatestElementAtEachSample() {
    check("ab--c-d|", "--b--c--(d|)", until: 7) { source, time in source.sample(time.cold("--x--x--x-x|")) }
  }

  func test_law16_completesWithTheSampler() {
    check("a------|", "---(a|)", until: 3) { source, time in source.sample(time.cold("---|")) }
  }

  func test_errorOfEitherFailsIt() {
    check("a-#", "--#", until: 2) { source, time in source.sample(time.cold("----x|")) }
    check("a----|", "--#", until: 2) { source, time in source.sample(time.cold("--#")) }
  }

  func test_aSampleWithoutANewElementEmitsNothing() {
    check("a----b---", "-a----b|", until: 7) { source, time in source.sample(time.cold("-xx---x|")) }
  }
}
