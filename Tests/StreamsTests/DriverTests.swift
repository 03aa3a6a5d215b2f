import Foundation
import Streams
import StreamsTesting
import XCTest

final class DriverTests: StreamsTestCase {
  func test_law31_elementsAndClosuresRunOnTheMainActorWhereverTheSourceEmits() {
    MainActor.assumeIsolated {
      let log = Log<String>()
      let background = ConcurrentDispatchQueueScheduler(qos: .default)
      let driver = Observable.of(1, 2, 3).subscribeOn(background).asDriver(onErrorJustReturn: 0)
        .map { element in
          MainActor.assertIsolated()
          return element * 10
        }
        .filter { element in
          MainActor.assertIsolated()
          return element > 10
        }
      let subscription = driver.drive(
        onNext: { element in
          MainActor.assertIsolated()
          log.add("\(element)")
        }, onCompleted: { log.add("completed") })
      runMainLoop(until: "it has completed") { log.all.last == "completed" }
      XCTAssertEqual(log.all, ["20", "30", "completed"])
      subscription.dispose()
    }
  }

  // Not on the main actor: XCTest on Linux rejects a class whose tests are all on it.
  func test_anErrorBecomesTheElement() throws {
    let driver = Single<Int>.error(TestError()).asDriver(onErrorJustReturn: 7)
    XCTAssertEqual(try driver.toBlocking().toArray(), [7])
  }

  func test_observersShareOneSubscriptionAndReceiveTheLastElementFirst() {
    MainActor.assumeIsolated {
      drainMain()
      let source = PublishSubject<Int>()
      let starts = Log<Bool>()
      let made = Log<Int>()
      let driver = source.do(onSubscribe: { starts.add(true) }).asDriver(onErrorJustReturn: 0)
        .map { element in
          made.add(element)
          return element
        }
      let first = driver.drive()
      source.onNext(1)
      let log = Log<Int>()
      let second = driver.drive(onNext: { log.add($0) })
      XCTAssertEqual(log.all, [1])
      source.onNext(2)
      XCTAssertEqual(log.all, [1, 2])
      XCTAssertEqual(made.all, [1, 2], "once for each element")
      XCTAssertEqual(starts.count, 1)
      first.dispose()
      XCTAssertTrue(source.hasObservers)
      second.dispose()
      XCTAssertFalse(source.hasObservers)
    }
  }

  func test_law31_asAStreamItReplaysOnTheMainQueueThoughSubscribedElsewhere() {
    MainActor.assumeIsolated {
      drainMain()
      let relay = BehaviorRelay(value: 1)
      let driver = relay.asDriver().map { element in
        MainActor.assertIsolated()
        return element
      }
      let held = driver.drive()
      let log = Log<Int>()
      let stream = driver.asObservable()
      let bag = DisposeBag()
      DispatchQueue.global().async {
        stream.subscribe(onNext: { element in
          MainActor.assertIsolated()
          log.add(element)
        }).disposed(by: bag)
      }
      runMainLoop(until: "the element has come") { log.count == 1 }
      held.dispose()
    }
  }

  func test_drivesObserversAndRelays() throws {
    try MainActor.assumeIsolated {
      drainMain()
      let relay = BehaviorRelay(value: 1)
      let behavior = BehaviorRelay(value: 0)
      let publish = PublishRelay<Int>()
      let published = Log<Int>()
      let subject = ReplaySubject<Int>.createUnbounded()
      let bag = DisposeBag()
      publish.subscribe(onNext: { published.add($0) }).disposed(by: bag)
      relay.asDriver().drive(behavior).disposed(by: bag)
      relay.asDriver().drive(publish).disposed(by: bag)
      relay.asDriver().drive(subject).disposed(by: bag)
      XCTAssertEqual(behavior.value, 1, "immediately")
      relay.accept(2)
      XCTAssertEqual(behavior.value, 2)
      XCTAssertEqual(published.all, [1, 2])
      XCTAssertEqual(try subject.take(2).toBlocking().toArray(), [1, 2])
    }
  }

  func test_operators() {
    MainActor.assumeIsolated {
      drainMain()
      let query = BehaviorRelay(value: "a")
      let page = BehaviorRelay(value: 1)
      let log = Log<String>()
      let seen = Log<String>()
      let bag = DisposeBag()
      let pages = page.asDriver()
      Driver.combineLatest(query.asDriver().distinctUntilChanged(), pages).map { "\($0.0)\($0.1)" }
        .do { seen.add($0) }
        .flatMapLatest { Driver.merge(.just($0), .never(), .empty()) }
        .withLatestFrom(pages) { "\($0)/\($1)" }
        .startWith("start")
        .drive(onNext: { log.add($0) })
        .disposed(by: bag)
      query.accept("a")
      query.accept("b")
      page.accept(2)
      XCTAssertEqual(seen.all, ["a1", "b1", "b2"])
      XCTAssertEqual(log.all, ["start", "a1/1", "b1/1", "b2/2"])
    }
  }
}
