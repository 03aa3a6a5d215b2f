import Foundation
import Streams
import StreamsTesting
import XCTest

final class SingleTests: OperatorTestCase {
  func test_operatorsForwardTheOnlyElement() throws {
    XCTAssertEqual(try Single.just(1).map { $0 + 1 }.flatMap { Single.just($0 * 10) }.toBlocking().single(), 20)
    XCTAssertEqual(try Single<Int>.error(TestError()).catchErrorJustReturn(5).toBlocking().single(), 5)
    XCTAssertEqual(try Single<Int>.error(TestError()).catchError { _ in .just(6) }.toBlocking().single(), 6)
    XCTAssertEqual(try Single.deferred { .just(7) }.toBlocking().single(), 7)
    XCTAssertThrowsError(try Single.just(1).map { _ in throw TestError("map") }.toBlocking().single()) {
      XCTAssertEqual($0 as? TestError, TestError("map"))
    }
    XCTAssertThrowsError(
      try Single<Int>.error(TestError()).mapError { _ in TestError("mapped") }.toBlocking().single()
    ) { XCTAssertEqual($0 as? TestError, TestError("mapped")) }
  }

  func test_flatMapToAKnownElementDeliversNothingAfterTheDisposal() {
    let seen = Log<Int>()
    let source = PublishSubject<Int>()
    let subscription = SerialDisposable()
    let single = source.take(1).asSingle().flatMap { element in
      subscription.dispose()
      return Single.just(element)
    }
    subscription.disposable = single.map { seen.add($0) }.subscribe()
    source.onNext(1)
    XCTAssertEqual(seen.all, [])
  }

  func test_law28_flatMapReleasesItsClosureWhileTheSecondSingleRuns() {
    final class Resource: Sendable {}
    weak var released: Resource?
    let source = PublishSubject<Int>()
    func subscribe() -> any Disposable {
      let resource = Resource()
      released = resource
      return source.take(1).asSingle().flatMap { _ in withExtendedLifetime(resource) { Single<Int>.never() } }
        .subscribe()
    }
    let subscription = subscribe()
    XCTAssertNotNil(released)
    source.onNext(1)
    XCTAssertNil(released)
    subscription.dispose()
  }

  func test_timeOperators() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(Single.just(1).delay(.seconds(2), scheduler: time).asObservable()), [.next(2, 1), .completed(2)])
    let delayed = TestScheduler()
    XCTAssertEqual(
      delayed.record(Single.just(1).delaySubscription(.seconds(3), scheduler: delayed).asObservable()),
      [.next(3, 1), .completed(3)])
    let late = TestScheduler()
    XCTAssertEqual(
      late.record(Single<Int>.never().timeout(.seconds(3), scheduler: late).asObservable()),
      [.error(3, StreamError.timeout)])
    let other = TestScheduler()
    XCTAssertEqual(
      other.record(Single<Int>.never().timeout(.seconds(3), other: .just(9), scheduler: other).asObservable()),
      [.next(3, 9), .completed(3)])
  }

  /// The thread of the source stands still behind the element, for longer than the limit.
  func test_timeout_endsAtTheElement() {
    for other in [nil, Single.just(9)] {
      let scheduler = ImpatientTimers()
      let source = Single.just(1)
      let single =
        other.map { source.timeout(.seconds(3), other: $0, scheduler: scheduler) }
        ?? source.timeout(.seconds(3), scheduler: scheduler)
      let seen = Log<String>()
      let subscription = single.subscribe(
        onSuccess: { seen.add("\($0)") }, onError: { seen.add("\($0)") })
      XCTAssertEqual(seen.all, ["1"], other == nil ? "an error" : "another single")
      XCTAssertEqual(scheduler.count, 1, "no limit applies behind the element")
      subscription.dispose()
    }
  }

  /// Runs every timer but the first immediately, as a thread does that stands still while the time passes.
  private final class ImpatientTimers: SchedulerType {
    private let timers = Locked(0)
    var count: Int { timers.withLock { $0 } }
    var now: Date { Date(timeIntervalSince1970: 0) }

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      action()
      return Disposables.create()
    }

    func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
      let isFirst = timers.withLock { count in
        count += 1
        return count == 1
      }
      if !isFirst { action() }
      return Disposables.create()
    }
  }

  func test_zip() throws {
    let two: Single<String> = .zip(.just(1), .just("a")) { "\($0)\($1)" }
    XCTAssertEqual(try two.toBlocking().single(), "1a")
    let three: Single<Int> = .zip(.just(1), .just(2), .just(3)) { $0 + $1 + $2 }
    XCTAssertEqual(try three.toBlocking().single(), 6)
    let many = try Single.zip(Single.just(1), Single.just("a"), Single.just(true), Single.just(0.5)).toBlocking()
      .single()
    XCTAssertEqual(many.0, 1)
    XCTAssertEqual(many.3, 0.5)
    XCTAssertEqual(try Single.zip([Single.just(1), .just(2)]) { $0 }.toBlocking().single(), [1, 2])
    XCTAssertEqual(try Single.zip([Single<Int>]()) { $0 }.toBlocking().single(), [])
  }

  func test_hooks() {
    let log = Log<String>()
    _ = Single.just(1).do(
      onSuccess: { log.add("success \($0)") }, onSubscribe: { log.add("subscribe") }, onDispose: { log.add("dispose") }
    ).subscribe(onSuccess: { log.add("got \($0)") })
    XCTAssertEqual(log.all, ["subscribe", "success 1", "got 1", "dispose"])
  }

  func test_retries() throws {
    let calls = Log<Int>()
    let source = Single<Int>.deferred {
      calls.add(1)
      return calls.count < 3 ? .error(TestError()) : .just(calls.count)
    }
    XCTAssertEqual(try source.retry(5).toBlocking().single(), 3)
    let time = TestScheduler()
    let again = Log<Int>()
    let failing = Single<Int>.deferred {
      again.add(1)
      return .error(TestError())
    }
    let policy = RetryPolicy(attempts: 4, jitter: { $0.upperBound }, scheduler: time)
    XCTAssertEqual(time.record(failing.retry(policy).asObservable()).map(\.value), [.error(TestError())])
    XCTAssertEqual(again.count, 4)
    XCTAssertThrowsError(try failing.retryWhen { $0.take(1) }.toBlocking().single()) {
      XCTAssertEqual($0 as? StreamError, .noElements)
    }
  }

  func test_zipOfManyNeedsNoSelector() throws {
    XCTAssertEqual(try Single.zip([Single.just(1), .just(2), .just(3)]).toBlocking().single(), [1, 2, 3])
    XCTAssertEqual(try Single<Int>.zip([]).toBlocking().single(), [])
    let time = TestScheduler()
    let other = time.cold("---a|")
    let all = Single.zip([other.asSingle(), time.cold("-#").asSingle()])
    XCTAssertEqual(time.record(all.asObservable()), [.error(1)])
    XCTAssertEqual(other.subscriptions, [TestSubscription(0, 1)])
  }

  func test_timerOnAScheduler() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(Single<Int>.timer(.seconds(3), scheduler: time).asObservable()), [.next(3, 0), .completed(3)])
  }

  func test_usingDisposesItsResourceAfterTheResult() {
    let log = Log<String>()
    let work = Single<Int>.using(
      { CompositeDisposable(Disposables.create { log.add("disposed") }) },
      singleFactory: { _ in Single.just(7).do(onSuccess: { _ in log.add("work") }) })
    _ = work.subscribe(onSuccess: { log.add("got \($0)") })
    XCTAssertEqual(log.all, ["work", "got 7", "disposed"])
    let failing = Single<Int>.using(
      { CompositeDisposable(Disposables.create { log.add("disposed too") }) },
      singleFactory: { _ in throw TestError("factory") })
    XCTAssertThrowsError(try failing.toBlocking().single()) { XCTAssertEqual($0 as? TestError, TestError("factory")) }
    XCTAssertEqual(log.all.last, "disposed too")
  }

  func test_onSubscribedRunsAfterTheSubscription() {
    let log = Log<String>()
    let work = Single<Int>.deferred {
      log.add("work")
      return .never()
    }
    work.do(onSubscribe: { log.add("subscribe") }, onSubscribed: { log.add("subscribed") }).subscribe().dispose()
    XCTAssertEqual(log.all, ["subscribe", "work", "subscribed"])
  }

  func test_single() {
    check("a-|", "--(a|)", until: 2) { source, _ in source.single() }
    check("ab|", "--(b|)", until: 2) { source, _ in source.single { $0 == "b" } }
    let time = TestScheduler()
    XCTAssertEqual(time.record(time.cold("ab|").single()), [.error(1, StreamError.moreThanOneElement)])
  }
}
