import Streams
import StreamsTesting
import XCTest

/// Laws 11 to 16: combining.
final class CombiningLawsTests: StreamsTestCase {
  func test_law11_zipCompletesAsSoonAsACompletedSourceHasNoQueuedElements() {
    let time = TestScheduler()
    let short = time.cold("a-b|")
    let long = time.cold("1---2---3---|")
    XCTAssertEqual(time.record(.zip(short, long) { $0 + $1 }).map(\.time), [0, 4, 4])
    XCTAssertEqual(short.subscriptions, [TestSubscription(0, 3)])
    XCTAssertEqual(long.subscriptions, [TestSubscription(0, 4)], "the rest of the longer one is given up")
  }

  func test_law11_zipWithACompletedEmptySourceCompletesThoughTheOtherNeverDoes() {
    let time = TestScheduler()
    let events = time.record(Observable<String>.zip(time.cold("--|"), Observable<String>.never()) { $0 + $1 })
    XCTAssertEqual(events, [.completed(2)])
    let three = Observable.zip(Observable<Int>.never(), Observable<Int>.empty(), Observable<Int>.never())
    XCTAssertEqual(time.record(three.map { $0.0 }).map(\.value), [.completed])
  }

  func test_law11_zipErrorFailsImmediatelyAndDisposesTheOthers() {
    let time = TestScheduler()
    let left = time.cold("ab-#")
    let right = time.cold("-------1|")
    XCTAssertEqual(time.record(.zip(left, right) { $0 + $1 }), [.error(3)])
    XCTAssertEqual(right.subscriptions, [TestSubscription(0, 3)])
  }

  func test_law12_combineLatestCompletesWhenASourceCompletedWithoutAValue() {
    let time = TestScheduler()
    let other = time.cold("a-b-c-d|")
    let events = time.record(.combineLatest(other, time.cold("--|")) { $0 + $1 })
    XCTAssertEqual(events, [.completed(2)])
    XCTAssertEqual(other.subscriptions, [TestSubscription(0, 2)])
  }

  func test_law12_threeSourcesAndCollectionsCompleteInTheSameWay() {
    let time = TestScheduler()
    let never = Observable<Int>.never()
    let three = Observable.combineLatest(never, Observable<Int>.empty(), never).map { $0.0 }
    XCTAssertEqual(time.record(three), [.completed(0)])
    let all = Observable.combineLatest([never, .empty(), never]).map(\.count)
    XCTAssertEqual(TestScheduler().record(all), [.completed(0)])
  }

  func test_law12_combineLatestCompletesWithTheLastSource() {
    let time = TestScheduler()
    let events = time.record(.combineLatest(time.cold("a--b|"), time.cold("-1----2-|")) { $0 + $1 })
    XCTAssertEqual(events, [.next(1, "a1"), .next(3, "b1"), .next(6, "b2"), .completed(8)])
  }

  func test_law13_mergeFailsWithTheFirstErrorAndDisposesEveryOther() {
    let time = TestScheduler()
    let sources = [time.cold("a---b---c|"), time.cold("-1--#"), time.cold("--x--y|")]
    let merged = Observable.merge(sources.map { $0.asObservable() })
    XCTAssertEqual(
      time.record(merged), [.next(0, "a"), .next(1, "1"), .next(2, "x"), .next(4, "b"), .error(4)])
    XCTAssertEqual(sources.flatMap(\.subscriptions), Array(repeating: TestSubscription(0, 4), count: 3))
  }

  func test_law13_flatMapCompletesWithTheOuterAndEveryInner() {
    let time = TestScheduler()
    let inner = time.cold("-x-x|")
    let outer = time.cold("a-b|")
    XCTAssertEqual(
      time.record(outer.flatMap { name in inner.map { name + $0 } }),
      [.next(1, "ax"), .next(3, "ax"), .next(3, "bx"), .next(5, "bx"), .completed(6)])
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 4), TestSubscription(2, 6)])
    XCTAssertEqual(outer.subscriptions, [TestSubscription(0, 3)])
  }

  func test_law13_synchronousInnersDoNotCompleteTheResultEarly() throws {
    let merged = Observable.from([Observable.of(1), Observable.empty(), Observable.of(2, 3)]).merge()
    XCTAssertEqual(try merged.toBlocking().toArray(), [1, 2, 3])
  }

  func test_law14_concatMapSubscribesToTheNextInnerWhenThePreviousHasCompleted() {
    let time = TestScheduler()
    let inner = time.cold("x-x-|")
    let outer = time.cold("ab|")
    XCTAssertEqual(
      time.record(outer.concatMap { name in inner.map { name + $0 } }),
      [.next(0, "ax"), .next(2, "ax"), .next(4, "bx"), .next(6, "bx"), .completed(8)])
    XCTAssertEqual(inner.subscriptions, [TestSubscription(0, 4), TestSubscription(4, 8)])
  }

  func test_law14_nextInnerIsNotStartedFromInsideTheCompletionOfThePreviousOne() {
    let log = Log<String>()
    let inners = ["a", "b"].map { name in
      Observable<String>.create { observer in
        log.add("+\(name)")
        observer.onCompleted()
        log.add("-\(name)")
        return Disposables.create()
      }
    }
    _ = Observable.from(inners).concatMap { $0 }.subscribe()
    _ = Observable.concat(inners).subscribe()
    XCTAssertEqual(log.all, ["+a", "-a", "+b", "-b", "+a", "-a", "+b", "-b"])
  }

  func test_law14_mergeMaxConcurrentKeepsTheOthersWaitingInOrder() {
    let time = TestScheduler()
    let inners = [time.cold("---a|"), time.cold("-b|"), time.cold("c|"), time.cold("d|")]
    let merged = Observable.from(inners.map { $0.asObservable() }).merge(maxConcurrent: 2)
    XCTAssertEqual(
      time.record(merged), [.next(1, "b"), .next(2, "c"), .next(3, "a"), .next(3, "d"), .completed(4)])
    XCTAssertEqual(inners.flatMap(\.subscriptions).map(\.subscribe), [0, 0, 2, 3])
  }

  func test_law15_startWithThenTakeDoesNotSubscribeTheSource() throws {
    let subscribed = Log<Int>()
    let source = Observable<Int>.deferred {
      subscribed.add(1)
      return .just(2)
    }
    XCTAssertEqual(try source.startWith(1).take(1).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable.just(1).concat(source).take(1).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable.merge(Observable.just(1), source).take(1).toBlocking().toArray(), [1])
    XCTAssertEqual(try source.take(0).toBlocking().toArray(), [])
    XCTAssertEqual(subscribed.all, [])
  }

  func test_law15_noSourceStartsWhileAnotherThreadDeliversTheError() {
    typealias Combine = @Sendable (Observable<Int>, Observable<Int>) -> Observable<Int>
    let combinations: [(String, Combine)] = [
      ("zip", { Observable.zip($0, $1) { $0 + $1 } }),
      ("combineLatest", { Observable.combineLatest($0, $1) { $0 + $1 } }),
      ("zip of an array", { Observable.zip([$0, $1]) { $0[0] } }), ("withLatestFrom", { $1.withLatestFrom($0) }),
      ("merge", { Observable.merge($0, $1) }),
      ("merge with a limit", { Observable.from([$0, $1]).merge(maxConcurrent: 2) }),
      ("takeUntil", { $1.takeUntil($0) }), ("amb", { Observable.amb([$0, $1]) }),
    ]
    for (name, combine) in combinations {
      let (isFailing, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let started = Log<Int>()
      let failing = Observable<Int>.create { observer in
        Thread { observer.onError(StreamError.noElements) }.start()
        isFailing.wait()
        return Disposables.create()
      }
      let other = Observable<Int>.create { _ in
        started.add(1)
        return Disposables.create()
      }
      let subscription = combine(failing, other).subscribe(onError: { _ in
        isFailing.signal()
        mayReturn.wait()
      })
      mayReturn.signal()
      XCTAssertEqual(started.all, [], name)
      subscription.dispose()
    }
  }

  func test_law15_aScopeBelowAnEndingStreamStartsNoSource() {
    let (isFailing, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let started = Log<Int>()
    let source = Observable<Int>.deferred {
      started.add(1)
      return .never()
    }
    let chain = Observable<Int>(push: { subscription, next in
      Thread { subscription.fail(StreamError.noElements) }.start()
      isFailing.wait()
      source.run(Scope(subscription)) { try next($0) }
    })
    let subscription = chain.subscribe(onError: { _ in
      isFailing.signal()
      mayReturn.wait()
    })
    mayReturn.signal()
    XCTAssertEqual(started.all, [])
    subscription.dispose()
  }

  func test_law16_takeUntilDisposesTheLosingSideImmediately() {
    let time = TestScheduler()
    let source = time.cold("a--b--c|")
    let trigger = time.cold("----x---|")
    XCTAssertEqual(time.record(source.takeUntil(trigger)), Marbles.parse("a--b|"))
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 4)])
    XCTAssertEqual(trigger.subscriptions, [TestSubscription(0, 4)])
    let quick = TestScheduler()
    let late = quick.cold("--------x|")
    XCTAssertEqual(quick.record(quick.cold("ab|").takeUntil(late)), Marbles.parse("ab|"))
    XCTAssertEqual(late.subscriptions, [TestSubscription(0, 2)])
  }
}
