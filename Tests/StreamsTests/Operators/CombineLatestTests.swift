import Streams
import StreamsTesting
import XCTest

final class CombineLatestTests: OperatorTestCase {
  func test_tuplesOfManySources() throws {
    let time = TestScheduler()
    let combined = Observable.combineLatest(time.cold("a---b|"), time.cold("-1----2|"), time.cold("--x|"))
    XCTAssertEqual(
      time.record(combined.map { $0.0 + $0.1 + $0.2 }),
      [.next(2, "a1x"), .next(4, "b1x"), .next(6, "b2x"), .completed(7)])
  }

  func test_closuresOfThreeAndFour() throws {
    let one = Observable.of(1, 2)
    let three: Observable<Int> = .combineLatest(one, one, one) { $0 + $1 + $2 }
    let four: Observable<Int> = .combineLatest(one, one, one, one) { $0 + $1 + $2 + $3 }
    XCTAssertEqual(try three.toBlocking().toArray(), [5, 6])
    XCTAssertEqual(try four.toBlocking().toArray(), [7, 8])
  }

  func test_noSources_completesImmediately() {
    let completed = Log<String>()
    _ = Observable.combineLatest().subscribe(onCompleted: { completed.add("combineLatest") })
    _ = Observable.zip().subscribe(onCompleted: { completed.add("zip") })
    XCTAssertEqual(completed.all, ["combineLatest", "zip"])
  }

  func test_errorFailsImmediatelyAndDisposesTheOthers() {
    let time = TestScheduler()
    let other = time.cold("a------|")
    XCTAssertEqual(time.record(.combineLatest(other, time.cold("--#")) { $0 + $1 }), [.error(2)])
    XCTAssertEqual(other.subscriptions, [TestSubscription(0, 2)])
  }
}

extension CombineLatestTests {
  func test_collections() throws {
    let sources = [Observable.of(1, 2), .of(10), .of(100, 200)]
    XCTAssertEqual(try Observable.combineLatest(sources).toBlocking().toArray(), [[2, 10, 100], [2, 10, 200]])
    XCTAssertEqual(try Observable.combineLatest(sources) { $0.reduce(0, +) }.toBlocking().toArray(), [112, 212])
    XCTAssertEqual(try Observable<Int>.combineLatest([Observable<Int>]()).toBlocking().toArray(), [], "law 12")
    XCTAssertEqual(try Observable.combineLatest([Observable.of(1), .empty()]).toBlocking().toArray(), [])
  }
}
