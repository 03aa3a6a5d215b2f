import Streams
import StreamsTesting
import XCTest

final class BufferTests: OperatorTestCase {
  private func buffered(_ marbles: String, until: TestTime = TestScheduler.disposed) -> [Recorded<Event<[String]>>] {
    let time = TestScheduler()
    return time.record(disposed: until, time.cold(marbles).buffer(timeSpan: .seconds(4), count: 2, scheduler: time))
  }

  func test_emitsByCountByTimeAndOnCompletion() {
    XCTAssertEqual(
      buffered("-a-b-c----d-|"),
      [.next(3, ["a", "b"]), .next(7, ["c"]), .next(11, ["d"]), .next(12, []), .completed(12)])
  }

  func test_emptyArraysAreEmittedToo() {
    XCTAssertEqual(buffered("------------", until: 9), [.next(4, []), .next(8, [])])
  }

  func test_errorDropsCollectedElements() { XCTAssertEqual(buffered("a#"), [.error(1)]) }
}
