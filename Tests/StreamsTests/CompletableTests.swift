import Streams
import StreamsTesting
import XCTest

final class CompletableTests: StreamsTestCase {
  private func events(
    of work: @Sendable (TestScheduler) -> Completable
  ) -> [Recorded<Event<Never>>] {
    let time = TestScheduler()
    return time.record(work(time).asObservable())
  }

  private func end(_ events: [Recorded<Event<Never>>]) -> String {
    events.map { "\($0.value.error.map { "\($0)" } ?? "completed") @ \($0.time)" }.joined(separator: ", ")
  }

  func test_zipCompletesWhenAllHaveCompleted() {
    XCTAssertEqual(
      end(
        events { time in
          .zip(time.cold("--|").ignoreElements(), time.cold("-a---|").ignoreElements())
        }), "completed @ 5")
    XCTAssertEqual(end(events { _ in .zip() }), "completed @ 0")
  }

  func test_zipFailsWithTheFirstErrorAndDisposesTheOthers() {
    let time = TestScheduler()
    let other = time.cold("-----|")
    let work = Completable.zip([other.ignoreElements(), time.cold("--#").ignoreElements()])
    XCTAssertEqual(end(time.record(work.asObservable())), "TestError(name: \"#\") @ 2")
    XCTAssertEqual(other.subscriptions, [TestSubscription(0, 2)])
  }

  func test_concatRunsOneAfterAnother() {
    XCTAssertEqual(
      end(
        events { time in
          .concat([time.cold("--|").ignoreElements(), time.cold("---|").ignoreElements()])
        }), "completed @ 5")
  }

  func test_errorsAreReplacedMappedAndRetried() {
    XCTAssertEqual(end(events { _ in .error(TestError()).catchError { _ in .empty() } }), "completed @ 0")
    XCTAssertEqual(
      end(events { _ in .error(TestError()).mapError { _ in TestError("x") } }), "TestError(name: \"x\") @ 0")
    let attempts = Log<Int>()
    let work = Completable.deferred {
      attempts.add(1)
      return attempts.count < 3 ? .error(TestError()) : .empty()
    }
    XCTAssertEqual(end(events { _ in work.retry(5) }), "completed @ 0")
    XCTAssertEqual(attempts.count, 3)
    XCTAssertEqual(
      end(
        events { time in
          Completable.error(TestError()).retry(
            RetryPolicy(attempts: 2, initialDelay: .seconds(3), jitter: { $0.upperBound }, scheduler: time))
        }), "TestError(name: \"#\") @ 3")
  }

  func test_timeAndHooks() {
    XCTAssertEqual(end(events { time in Completable.empty().delay(.seconds(2), scheduler: time) }), "completed @ 2")
    XCTAssertEqual(
      events { time in Completable.never().timeout(.seconds(3), scheduler: time) }.first?.value.error as? StreamError,
      .timeout)
    XCTAssertEqual(end(events { time in Completable.empty().observeOn(time).subscribeOn(time) }), "completed @ 0")
    let log = Log<String>()
    _ = Completable.empty().do(
      onCompleted: { log.add("completed") }, onSubscribe: { log.add("subscribe") }, onDispose: { log.add("dispose") }
    ).subscribe()
    XCTAssertEqual(log.all, ["subscribe", "completed", "dispose"])
  }

  func test_concatTakesAnyNumber() {
    XCTAssertEqual(
      end(events { time in .concat(time.cold("--|").ignoreElements(), time.cold("---|").ignoreElements(), .empty()) }),
      "completed @ 5")
  }

  func test_subscribeTakesOneClosureForBothResults() {
    let log = Log<String>()
    let note: @Sendable (CompletableEvent) -> Void = { event in
      switch event {
      case .completed: log.add("completed")
      case .error(let error): log.add("\(error)")
      }
    }
    _ = Completable.empty().subscribe(note)
    _ = Completable.error(TestError("x")).subscribe { event in note(event) }
    XCTAssertEqual(log.all, ["completed", "TestError(name: \"x\")"])
  }

  func test_retryWhenSubscribesAgainAtEachTriggerAndTerminatesWithThem() {
    let attempts = Log<Int>()
    let work = Completable.deferred {
      attempts.add(1)
      return .error(TestError())
    }
    XCTAssertEqual(
      end(events { time in work.retryWhen { $0.delay(.seconds(2), scheduler: time).take(2) } }), "completed @ 4")
    XCTAssertEqual(attempts.count, 3)
  }

  func test_delaySubscriptionAndTimeoutWithAnother() {
    XCTAssertEqual(
      end(events { time in time.cold("--|").ignoreElements().delaySubscription(.seconds(3), scheduler: time) }),
      "completed @ 5")
    XCTAssertEqual(
      end(
        events { time in
          Completable.never().timeout(.seconds(3), other: time.cold("--|").ignoreElements(), scheduler: time)
        }), "completed @ 5")
  }

  func test_usingDisposesItsResourceAfterTheEnd() {
    let log = Log<String>()
    let work = Completable.using(
      { CompositeDisposable(Disposables.create { log.add("disposed") }) },
      completableFactory: { _ in Completable.empty().do(onCompleted: { log.add("work") }) })
    _ = work.subscribe(onCompleted: { log.add("completed") })
    XCTAssertEqual(log.all, ["work", "completed", "disposed"])
  }

  func test_debugPrintsEachStep() {
    let log = Log<String>()
    _ = Completable.empty().debug("work", print: { log.add($0) }).do(onSubscribed: { log.add("subscribed") })
      .subscribe()
    XCTAssertEqual(log.all, ["work -> subscribed", "work -> completed", "work -> disposed", "subscribed"])
  }

  func test_completables() throws {
    let log = Log<String>()
    let work = Completable.create { observer in
      log.add("work")
      observer(.completed)
      return Disposables.create()
    }
    XCTAssertEqual(try work.andThen(Single.just(1)).toBlocking().single(), 1)
    XCTAssertEqual(try work.andThen(work).andThen(Observable.of(1, 2)).toBlocking().toArray(), [1, 2])
    XCTAssertEqual(log.count, 3)
    XCTAssertThrowsError(try Completable.error(TestError()).andThen(Single.just(1)).toBlocking().single())
    XCTAssertEqual(try Single.just(1).asCompletable().andThen(Observable.just(2)).toBlocking().toArray(), [2])
    XCTAssertEqual(try Single.just(1).flatMapCompletable { _ in work }.andThen(Single.just(3)).toBlocking().single(), 3)
    let ends = Log<String>()
    _ = Completable.empty().subscribe(onCompleted: { ends.add("completed") })
    _ = Completable.error(TestError()).subscribe(onError: { _ in ends.add("error") })
    XCTAssertEqual(ends.all, ["completed", "error"])
  }
}
