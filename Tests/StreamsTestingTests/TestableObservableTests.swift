import Streams
import StreamsTesting
import XCTest

final class TestableObservableTests: XCTestCase {
  func test_aColdSourceStartsWithEachSubscriptionAndAHotOneByTheClock() {
    let time = TestScheduler()
    let cold = time.cold("-a|")
    let hot = time.hot("a--b|")
    let coldLog = time.createObserver(String.self)
    let hotLog = time.createObserver(String.self)
    let bag = DisposeBag()
    time.scheduleAt(2) {
      cold.subscribe(coldLog).disposed(by: bag)
      hot.subscribe(hotLog).disposed(by: bag)
    }
    time.start()
    XCTAssertEqual(coldLog.events, [.next(3, "a"), .completed(4)])
    XCTAssertEqual(hotLog.events, [.next(3, "b"), .completed(4)])
    XCTAssertEqual(cold.subscriptions, [TestSubscription(2, 4)])
    XCTAssertEqual(hot.subscriptions, [TestSubscription(2, 4)])
  }
}
