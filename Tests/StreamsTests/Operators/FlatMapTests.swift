import Streams
import StreamsTesting
import XCTest

final class FlatMapTests: OperatorTestCase {
  func test_emitsTheElementsOfAllInnersInOrderOfArrival() {
    check("a-b|", "--aab-b|", until: 3) { source, time in
      source.flatMap { name in time.cold(name == "a" ? "--xx|" : "--x-x|").map { _ in name } }
    }
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.flatMap { Observable.just($0) } } }

  func test_disposeDisposesEveryInner() {
    let time = TestScheduler()
    let inner = time.cold("------")
    _ = time.record(disposed: 4, time.cold("a-b-").flatMap { _ in inner.asObservable() })
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 4), TestSubscription(2, 4)])
  }

  func test_takesSinglesAndSubjects() throws {
    XCTAssertEqual(try Observable.of(1, 2).flatMap { Single.just($0 * 10) }.toBlocking().toArray(), [10, 20])
    XCTAssertEqual(try Observable.just(1).flatMap { BehaviorSubject(value: $0) }.take(1).toBlocking().toArray(), [1])
  }

  func test_innersOnManyThreadsLoseNoElements() {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    for _ in 0..<50 {
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable.range(start: 0, count: 8).flatMap { base in
          Observable.range(start: base * 50, count: 50).subscribeOn(scheduler)
        })
      waitUntil("it has ended") { referee.ends.count == 1 }
      referee.check()
      XCTAssertEqual(referee.elements.all.sorted(), Array(0..<400))
      subscription.dispose()
    }
  }

  func test_scalarsBetweenAsynchronousInnersStaySerial() {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    for _ in 0..<50 {
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable.range(start: 0, count: 400).flatMap { value in
          value.isMultiple(of: 3) ? Observable.of(value).subscribeOn(scheduler) : .just(value)
        })
      waitUntil("it has ended") { referee.ends.count == 1 }
      referee.check()
      XCTAssertEqual(referee.elements.all.sorted(), Array(0..<400))
      subscription.dispose()
    }
  }

  func test_law13_anInnerStreamThatTerminatesTwiceCountsOnce() {
    let outer = PublishSubject<Int>()
    let events = Log<Event<Int>>()
    let subscription = outer.flatMap { element in
      Observable.create { observer in
        observer.onNext(element)
        observer.onCompleted()
        observer.onCompleted()
        return Disposables.create()
      }
    }.subscribe { events.add($0) }
    outer.onNext(1)
    outer.onNext(2)
    XCTAssertEqual(events.all, [.next(1), .next(2)])
    outer.onCompleted()
    XCTAssertEqual(events.all.last, .completed)
    subscription.dispose()
  }
}
