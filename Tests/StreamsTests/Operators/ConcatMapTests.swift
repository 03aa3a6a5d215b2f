import Streams
import StreamsTesting
import XCTest

final class ConcatMapTests: OperatorTestCase {
  func test_keepsTheOrderOfTheOuter() throws {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    let result = Observable.range(start: 0, count: 100).concatMap { value in
      value.isMultiple(of: 2) ? Observable.of(value).subscribeOn(scheduler) : .just(value)
    }
    for _ in 0..<20 { XCTAssertEqual(try result.toBlocking(timeout: .seconds(20)).toArray(), Array(0..<100)) }
  }

  func test_errorOfAnInnerStartsNoOther() {
    let time = TestScheduler()
    let log = Log<String>()
    let events = time.record(
      time.cold("ab|").concatMap { name -> Observable<String> in
        log.add(name)
        return time.cold("--#").asObservable()
      })
    XCTAssertEqual(events, [.error(2)])
    XCTAssertEqual(log.all, ["a", "b"], "the closure maps every element; only subscribing waits")
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.concatMap { Observable.just($0) } } }
}
