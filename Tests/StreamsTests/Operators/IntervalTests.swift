import Streams
import StreamsTesting
import XCTest

final class IntervalTests: StreamsTestCase {
  func test_intervalOfZeroOnTheMainSchedulerReturnsFromSubscribe() {
    let ticked = expectation(description: "three ticks")
    let log = Log<Int>()
    let held = SerialDisposable()
    held.disposable = Observable<Int>.interval(.zero, scheduler: MainScheduler.instance).take(3).subscribe(
      onNext: { log.add($0) }, onCompleted: { ticked.fulfill() })
    XCTAssertEqual(log.all, [])
    wait(for: [ticked], timeout: 20)
    XCTAssertEqual(log.all, [0, 1, 2])
    held.dispose()
  }
}
