import Streams
import StreamsTesting
import XCTest

final class DelayTests: OperatorTestCase {
  func test_delaysElementsAndCompletion() {
    check("a-b|", "--a-b|", until: 3) { source, time in source.delay(.seconds(2), scheduler: time) }
  }

  func test_errorIsForwardedImmediatelyAndDropsPendingElements() {
    check("a-b#", "--a#", until: 3) { source, time in source.delay(.seconds(2), scheduler: time) }
  }

  func test_disposeDropsPendingElements() {
    check("a-b|", "--a", until: 3, disposed: 4) { source, time in source.delay(.seconds(2), scheduler: time) }
  }

  func test_keepsOrderOnAConcurrentScheduler() throws {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    let delayed = Observable.range(start: 0, count: 200).delay(.milliseconds(2), scheduler: scheduler)
    XCTAssertEqual(try delayed.toBlocking(timeout: .seconds(20)).toArray(), Array(0..<200))
  }
}

extension DelayTests {
  func test_oneTimerServesAllElementsInFlight() {
    let clock = ManualScheduler()
    let log = Log<Int>()
    let subscription = Observable.range(start: 0, count: 1000).concat(Observable.never()).delay(
      .seconds(2), scheduler: clock
    )
    .subscribe(onNext: { log.add($0) })
    XCTAssertEqual(clock.pending, 1)
    clock.advance(.seconds(2))
    clock.runDue()
    XCTAssertEqual(log.all, Array(0..<1000))
    XCTAssertEqual(clock.pending, 0)
    subscription.dispose()
  }
}
