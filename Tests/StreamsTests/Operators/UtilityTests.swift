import Foundation
import Streams
import StreamsTesting
import XCTest

final class UtilityTests: OperatorTestCase {
  private final class Owner: Sendable {
    let log: Log<String>
    init(_ log: Log<String>) { self.log = log }
  }

  func test_withUnretainedCompletesWhenTheObjectIsGone() {
    let log = Log<String>()
    var owner: Owner? = Owner(log)
    let subject = PublishSubject<Int>()
    let ends = Log<String>()
    let subscription = owner.map { owner in
      subject.withUnretained(owner).subscribe(
        onNext: { owner, value in owner.log.add("\(value)") }, onCompleted: { ends.add("completed") })
    }
    subject.onNext(1)
    owner = nil
    subject.onNext(2)
    XCTAssertEqual(log.all, ["1"])
    XCTAssertEqual(ends.all, ["completed"])
    XCTAssertFalse(subject.hasObservers)
    subscription?.dispose()
  }

  func test_subscribeWithDropsEventsWhenTheObjectIsGone() {
    let log = Log<String>()
    var owner: Owner? = Owner(log)
    let subject = PublishSubject<Int>()
    let subscription = owner.map { owner in
      subject.subscribe(with: owner, onNext: { owner, value in owner.log.add("\(value)") })
    }
    subject.onNext(1)
    owner = nil
    subject.onNext(2)
    XCTAssertEqual(log.all, ["1"])
    subscription?.dispose()
  }

  func test_debugSaysWhatHappens() {
    let lines = Log<String>()
    _ = Observable.just(1).debug("x", print: { lines.add($0) }).subscribe()
    XCTAssertEqual(lines.all, ["x -> subscribed", "x -> next(1)", "x -> completed", "x -> disposed"])
    let failing = Log<String>()
    _ = Observable<Int>.error(TestError()).debug(print: { failing.add($0) }).subscribe(onError: { _ in })
    XCTAssertTrue(failing.all[0].hasPrefix("StreamsTests/UtilityTests.swift:"), failing.all[0])
    XCTAssertTrue(failing.all[1].hasSuffix("-> error(TestError(name: \"#\"))"), failing.all[1])
  }

  func test_serializePassesEverythingThrough() {
    check("a-b|", "a-b|", until: 3) { source, _ in source.serialize() }
    checkPassThrough { source, _ in source.serialize() }
  }

  func test_bindHandsElementsToRelaysAndObservers() throws {
    let subject = PublishSubject<Int>()
    let relay = BehaviorRelay(value: 0)
    let published = PublishRelay<Int>()
    let log = Log<Int>()
    let other = BehaviorSubject(value: 0)
    let bag = DisposeBag()
    published.subscribe(onNext: { log.add($0) }).disposed(by: bag)
    subject.bind(to: relay).disposed(by: bag)
    subject.bind(to: published).disposed(by: bag)
    subject.bind(to: other).disposed(by: bag)
    subject.bind(onNext: { log.add($0 * 10) }).disposed(by: bag)
    subject.onNext(7)
    XCTAssertEqual(relay.value, 7)
    XCTAssertEqual(try other.value(), 7)
    XCTAssertEqual(log.all, [7, 70])
    subject.onCompleted()
    relay.accept(8)
    XCTAssertEqual(relay.value, 8, "a relay does not end with what it was bound to")
  }

  func test_completionsOfRelaysNeverCome() throws {
    let relay = BehaviorRelay(value: 1)
    let log = Log<Int>()
    let subscription = relay.subscribe(onNext: { log.add($0) }, onCompleted: { log.add(-1) })
    relay.accept(2)
    XCTAssertEqual(log.all, [1, 2])
    subscription.dispose()
  }

  func test_toBlockingOnTheMainThreadRunsTheMainQueue() throws {
    XCTAssertTrue(Thread.isMainThread)
    let ticks = Observable<Int>.interval(.milliseconds(1), scheduler: MainScheduler.instance).take(3)
    XCTAssertEqual(try ticks.toBlocking(timeout: .seconds(20)).toArray(), [0, 1, 2])
    XCTAssertThrowsError(
      try Observable<Int>.never().toBlocking(timeout: .milliseconds(5)).toArray()
    ) { XCTAssertEqual($0 as? StreamError, .timeout) }
  }
}
