import Foundation
import Streams
import StreamsTesting
import XCTest

final class FlatMapLatestTests: OperatorTestCase {
  func test_law14_oldInnerIsDisposedBeforeTheNewOneIsSubscribed() {
    let log = Log<String>()
    let subject = PublishSubject<String>()
    let subscription = subject.flatMapLatest { name in
      Observable<Int>.create { _ in
        log.add("+\(name)")
        return Disposables.create { log.add("-\(name)") }
      }
    }.subscribe()
    subject.onNext("a")
    subject.onNext("b")
    subscription.dispose()
    XCTAssertEqual(log.all, ["+a", "-a", "+b", "-b"])
  }

  func test_law14_aKnownElementAfterALiveInnerIsTheLast() {
    for _ in 0..<200 {
      let outer = PublishSubject<Observable<Int>>()
      let inner = PublishSubject<Int>()
      let referee = Referee<Int>()
      let log = Log<Int>()
      let subscription = referee.watch(outer.flatMapLatest { $0 }.do(onNext: { log.add($0) }))
      outer.onNext(inner.asObservable())
      onThreads(2) { index in
        if index == 0 { outer.onNext(.just(-1)) } else { for element in 0..<50 { inner.onNext(element) } }
      }
      XCTAssertEqual(log.all.last, -1)
      outer.onCompleted()
      referee.check()
      subscription.dispose()
    }
  }

  func test_emitsTheElementsOfTheLatestInner() {
    let time = TestScheduler()
    let inner = time.cold("x-x-x|")
    XCTAssertEqual(
      time.record(time.cold("a--b|").flatMapLatest { name in inner.map { name + $0 } }),
      [.next(0, "ax"), .next(2, "ax"), .next(3, "bx"), .next(5, "bx"), .next(7, "bx"), .completed(8)])
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 3), TestSubscription(3, 8)])
  }

  func test_completesWithTheOuterWhenNoInnerIsActive() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("a----|").flatMapLatest { _ in time.cold("x|") }), [.next(0, "x"), .completed(5)])
  }

  func test_innerErrorFailsTheResult() {
    let time = TestScheduler()
    let outer = time.cold("a---b|")
    XCTAssertEqual(time.record(outer.flatMapLatest { _ in time.cold("-#") }), [.error(1)])
    XCTAssertEqual(outer.subscriptions, [TestSubscription(0, 1)])
  }

  func test_scalarsDisposeThePreviousInner() {
    let time = TestScheduler()
    let inner = time.cold("--x--x|")
    XCTAssertEqual(
      time.record(
        time.cold("a---b|").flatMapLatest { name -> Observable<String> in
          name == "a" ? inner.asObservable() : .just("just")
        }), [.next(2, "x"), .next(4, "just"), .completed(5)])
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 4)])
  }

  func test_law03_aKnownElementFromInsideAnEventIsDeliveredAfterThatEvent() {
    let (outer, inner) = (PublishSubject<Observable<Int>>(), PublishSubject<Int>())
    let log = Log<String>()
    let subscription = outer.flatMapLatest { $0 }.subscribe(onNext: { element in
      log.add("begin \(element)")
      if element == 1 { outer.onNext(.just(2)) }
      log.add("end \(element)")
    })
    outer.onNext(inner.asObservable())
    inner.onNext(1)
    XCTAssertEqual(log.all, ["begin 1", "end 1", "begin 2", "end 2"])
    subscription.dispose()
  }

  func test_switchLatest() throws {
    XCTAssertEqual(try Observable.of(Observable.of(1, 2), .of(3)).switchLatest().toBlocking().toArray(), [1, 2, 3])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.flatMapLatest { Observable.just($0) } } }

  func test_staleInnersOnOtherThreadsAreDropped() {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    for _ in 0..<100 {
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable.range(start: 0, count: 30).flatMapLatest { outer in
          Observable.range(start: outer * 100, count: 20).subscribeOn(scheduler)
        })
      waitUntil("it has ended") { referee.ends.count == 1 }
      referee.check()
      let outers = referee.elements.all.map { $0 / 100 }
      XCTAssertEqual(outers, outers.sorted(), "nothing of a former inner comes after a later one")
      XCTAssertEqual(referee.elements.all.suffix(20), Array(2900..<2920), "the last inner is whole")
      subscription.dispose()
    }
  }

  func test_law14_queuedEventsOfAStaleInnerAreDropped() {
    let outer = PublishSubject<PublishSubject<Int>>()
    let inners = (0..<3).map { _ in PublishSubject<Int>() }
    let events = Log<Event<Int>>()
    let entered = DispatchSemaphore(value: 0)
    let proceed = DispatchSemaphore(value: 0)
    let subscription = outer.flatMapLatest { $0 }.subscribe { event in
      events.add(event)
      guard event == .next(0) else { return }
      entered.signal()
      proceed.wait()
    }
    outer.onNext(inners[0])
    let returned = expectation(description: "the first delivery has returned")
    Thread.detachNewThread {
      inners[0].onNext(0)
      returned.fulfill()
    }
    entered.wait()
    outer.onNext(inners[1])
    inners[1].onNext(1)
    inners[1].onError(TestError())
    outer.onNext(inners[2])
    proceed.signal()
    wait(for: [returned], timeout: 20)
    inners[2].onNext(2)
    XCTAssertEqual(events.all, [.next(0), .next(2)])
    subscription.dispose()
  }
}
