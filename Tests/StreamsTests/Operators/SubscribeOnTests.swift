import Streams
import StreamsTesting
import XCTest

final class SubscribeOnTests: OperatorTestCase {
  func test_subscribesOnTheScheduler() {
    let time = TestScheduler()
    let log = Log<String>()
    let source = Observable<Int>.deferred {
      log.add("subscribed")
      return .just(1)
    }
    let subscription = source.subscribeOn(time).subscribe(onNext: { log.add("\($0)") })
    XCTAssertEqual(log.all, [])
    time.start()
    XCTAssertEqual(log.all, ["subscribed", "1"])
    subscription.dispose()
  }

  func test_disposedBeforeItRunsNeverSubscribes() {
    let time = TestScheduler()
    let log = Log<Int>()
    let source = Observable<Int>.deferred {
      log.add(1)
      return .never()
    }
    source.subscribeOn(time).subscribe().dispose()
    time.start()
    XCTAssertEqual(log.all, [])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, time in source.subscribeOn(time) } }
}
