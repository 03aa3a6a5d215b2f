import Foundation
import Streams
import StreamsTesting
import XCTest

final class RetryWhenTests: OperatorTestCase {
  func test_law18_subscribesAgainWhenTheHandlersStreamEmits() {
    let time = TestScheduler()
    let source = time.cold("a#")
    XCTAssertEqual(
      time.record(
        source.retryWhen { errors in errors.delay(.seconds(2), scheduler: time).take(2) }),
      [.next(0, "a"), .next(3, "a"), .completed(6)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 1), TestSubscription(3, 4), TestSubscription(6, 6)])
  }

  func test_law18_theHandlersErrorIsForwarded() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(
        time.cold("a#").retryWhen { errors in
          errors.flatMap { error -> Observable<Int> in .error(TestError("last")) }
        }), [.next(0, "a"), .error(1, TestError("last"))])
  }

  func test_throwingHandler() {
    let time = TestScheduler()
    let source = time.cold("a|")
    XCTAssertEqual(
      time.record(source.retryWhen { _ -> Observable<Int> in throw TestError() }), [.error(0)])
    XCTAssertEqual(source.subscriptions, [])
  }

  func test_aMillionSynchronousRetriesNeedNoStack() throws {
    let attempts = Log<Void>()
    let source = Observable<Int>.deferred {
      attempts.add(())
      return attempts.count < 100_000 ? .error(TestError()) : .just(1)
    }
    XCTAssertEqual(try source.retryWhen { $0 }.toBlocking().toArray(), [1])
  }

  func test_law18_aTriggerWithoutAnErrorDoesNotAffectARunningSource() {
    let time = TestScheduler()
    let source = time.cold("a---------b----|")
    let signal = time.hot("-----x")
    XCTAssertEqual(
      time.record(source.retryWhen { _ in signal.asObservable() }), [.next(0, "a"), .next(10, "b"), .completed(15)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 15)])
  }

  func test_law18_aNotifierThatEmitsWhenSubscribedDoesNotSubscribeTheSourceTwice() {
    let time = TestScheduler()
    let source = time.cold("a#")
    let isOnline = BehaviorRelay(value: true)
    let events = time.record(
      disposed: 6,
      source.retryWhen { errors in
        Observable.merge(errors.map { _ in true }.delay(.seconds(2), scheduler: time), isOnline.asObservable())
      })
    XCTAssertEqual(events, [.next(0, "a"), .next(3, "a")])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 1), TestSubscription(3, 4)])
  }

  func test_law02_theTerminalEventOfTheNotifierWaitsForTheElementBeingDelivered() {
    let source = PublishSubject<Int>()
    let notifier = PublishSubject<Int>()
    let log = Log<String>()
    let subscription = source.retryWhen { _ in notifier }.subscribe(
      onNext: { value in
        log.add("begin \(value)")
        notifier.onCompleted()
        log.add("end \(value)")
      }, onCompleted: { log.add("completed") })
    source.onNext(1)
    XCTAssertEqual(log.all, ["begin 1", "end 1", "completed"])
    subscription.dispose()
  }

  func test_law02_theTerminalEventOfTheTriggersWaitsForTheElementBeingDelivered() {
    let source = PublishSubject<Int>()
    let triggers = PublishSubject<Int>()
    let events = Log<Event<Int>>()
    let entered = DispatchSemaphore(value: 0)
    let proceed = DispatchSemaphore(value: 0)
    let subscription = source.retryWhen { _ in triggers }.subscribe { event in
      if event == .next(1) {
        entered.signal()
        proceed.wait()
      }
      events.add(event)
    }
    let returned = expectation(description: "the delivery has returned")
    Thread.detachNewThread {
      source.onNext(1)
      returned.fulfill()
    }
    entered.wait()
    triggers.onCompleted()
    XCTAssertEqual(events.all, [], "the element is being delivered")
    proceed.signal()
    wait(for: [returned], timeout: 20)
    XCTAssertEqual(events.all, [.next(1), .completed])
    subscription.dispose()
  }
}
