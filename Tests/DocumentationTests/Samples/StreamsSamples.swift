import Streams
import StreamsTesting
import XCTest

final class StreamsSamples: XCTestCase {
  func test_overviewOfStreams() {
    let bag = DisposeBag()
    Observable.zip(Observable.of(1, 2, 3), Observable.of("a", "b", "c"))
      .map { "\($0.0)\($0.1)" }
      .subscribe(onNext: { print($0) })
      .disposed(by: bag)
  }

  func test_overviewOfStreamsTesting() {
    let time = TestScheduler()
    let source = time.cold("a-b-c|")
    let events = time.record(source.delay(.seconds(2), scheduler: time))
    XCTAssertEqual(events, Marbles.parse("--a-b-c|"))
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 5)])
  }
}
