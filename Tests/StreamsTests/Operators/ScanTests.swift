import Streams
import StreamsTesting
import XCTest

final class ScanTests: OperatorTestCase {
  func test_emitsEachIntermediateResult() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("a-b-c|").scan("") { $0 + $1 }),
      [.next(0, "a"), .next(2, "ab"), .next(4, "abc"), .completed(5)])
  }

  func test_startsAgainForEachSubscription() throws {
    let sums = Observable.of(1, 2, 3).scan(0, accumulator: { $0 + $1 })
    XCTAssertEqual(try sums.toBlocking().toArray(), [1, 3, 6])
    XCTAssertEqual(try sums.toBlocking().toArray(), [1, 3, 6])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.scan("") { $1 } } }
}

extension ScanTests {
  func test_intoAccumulatesInPlaceAndStartsAgain() throws {
    let lists = Observable.of(1, 2).scan(into: [Int]()) { $0.append($1) }
    XCTAssertEqual(try lists.toBlocking().toArray(), [[1], [1, 2]])
    XCTAssertEqual(try lists.toBlocking().toArray(), [[1], [1, 2]])
  }
}
