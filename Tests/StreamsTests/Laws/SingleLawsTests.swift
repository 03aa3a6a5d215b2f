import Streams
import StreamsTesting
import Synchronization
import XCTest

/// Laws 29 and 30: single and async.
final class SingleLawsTests: StreamsTestCase {
  func test_law29_firstResultWins() {
    let results = Log<String>()
    let source = Single<Int>.create { observer in
      observer(.success(1))
      observer(.success(2))
      observer(.error(TestError()))
      return Disposables.create()
    }
    _ = source.subscribe(onSuccess: { results.add("\($0)") }, onError: { _ in results.add("error") })
    XCTAssertEqual(results.all, ["1"])
  }

  func test_law29_resultFromInsideTheFirstIsIgnored() {
    let observer = Locked<(@Sendable (SingleEvent<Int>) -> Void)?>(nil)
    let results = Log<Int>()
    let subscription = Single<Int>.create { single in
      observer.withLock { $0 = single }
      return Disposables.create()
    }.subscribe(onSuccess: { value in
      if value == 1 { observer.withLock { $0 }?(.success(2)) }
      results.add(value)
    })
    observer.withLock { $0 }?(.success(1))
    observer.withLock { $0 = nil }
    XCTAssertEqual(results.all, [1])
    subscription.dispose()
  }

  func test_law29_oneResultWhenThreadsRace() {
    for _ in 0..<100 {
      let observers = Log<@Sendable (SingleEvent<Int>) -> Void>()
      let results = Log<Int>()
      let subscription = Single<Int>.create { observer in
        observers.add(observer)
        return Disposables.create()
      }.subscribe(onSuccess: { results.add($0) }, onError: { _ in results.add(-1) })
      let observer = observers.all[0]
      onThreads(8) { observer($0.isMultiple(of: 2) ? .success($0) : .error(TestError())) }
      XCTAssertEqual(results.count, 1)
      subscription.dispose()
    }
  }

  func test_law29_asSingleFailsForNoneOrManyElements_andDeliversOnCompletion() {
    func end(_ source: Observable<Int>) -> Event<Int>? {
      let events = Log<Event<Int>>()
      _ = source.asSingle().asObservable().subscribe { events.add($0) }
      return events.all.first
    }
    XCTAssertEqual(end(.empty()), .error(StreamError.noElements))
    XCTAssertEqual(end(.of(1, 2)), .error(StreamError.moreThanOneElement))
    XCTAssertEqual(end(.just(1)), .next(1))
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("-a--|").asSingle().asObservable()), [.next(4, "a"), .completed(4)])
  }

  func test_law29_resultAfterDisposeIsIgnored() {
    let observers = Log<@Sendable (SingleEvent<Int>) -> Void>()
    let results = Log<Int>()
    let subscription = Single<Int>.create { observer in
      observers.add(observer)
      return Disposables.create()
    }.subscribe(onSuccess: { results.add($0) })
    subscription.dispose()
    observers.all[0](.success(1))
    XCTAssertEqual(results.all, [])
  }

  func test_law30_valueResumesWithSuccessAndFailure() async throws {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    let value = try await withTimeLimit { try await Single.just(3).observeOn(scheduler).value }
    XCTAssertEqual(value, 3)
    do {
      _ = try await withTimeLimit { try await Single<Int>.error(TestError("x")).value }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? TestError, TestError("x"))
    }
    try await withTimeLimit { try await Completable.empty().value }
  }

  func test_law30_cancellingTheTaskDisposesAndThrows() async throws {
    let subscribed = expectation(description: "subscribed")
    let disposed = expectation(description: "disposed")
    let source = Single<Int>.create { _ in
      subscribed.fulfill()
      return Disposables.create { disposed.fulfill() }
    }
    let task = Task { try await source.value }
    await fulfillment(of: [subscribed], timeout: 20)
    task.cancel()
    await fulfillment(of: [disposed], timeout: 20)
    let result = try await withTimeLimit { await task.result }
    XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
  }

  func test_law30_taskCancelledBeforeItSubscribedDoesNotHang() async throws {
    let subscriptions = Atomic<Int>(0)
    let source = Single<Int>.create { _ in
      subscriptions.add(1, ordering: .relaxed)
      return Disposables.create { subscriptions.subtract(1, ordering: .relaxed) }
    }
    for _ in 0..<100 {
      let task = Task { try await source.value }
      task.cancel()
      let result = try await withTimeLimit { await task.result }
      XCTAssertThrowsError(try result.get())
    }
    waitUntil("every subscription is disposed") { subscriptions.load(ordering: .relaxed) == 0 }
  }

  func test_law30_valuesSubscribeAtIterationAndDisposeWhenTheLoopEnds() async throws {
    let subscriptions = Atomic<Int>(0)
    let disposals = Atomic<Int>(0)
    let source = Observable<Int>.create { observer in
      subscriptions.add(1, ordering: .relaxed)
      for value in 1...5 { observer.onNext(value) }
      return Disposables.create { disposals.add(1, ordering: .relaxed) }
    }
    let values = source.values
    XCTAssertEqual(subscriptions.load(ordering: .relaxed), 0)
    let seen = try await withTimeLimit {
      var seen: [Int] = []
      for try await value in values {
        seen.append(value)
        if value == 3 { break }
      }
      return seen
    }
    XCTAssertEqual(seen, [1, 2, 3])
    XCTAssertEqual(subscriptions.load(ordering: .relaxed), 1)
    waitUntil("the loop's end disposes") { disposals.load(ordering: .relaxed) == 1 }
    let newest = try await withTimeLimit {
      try await Observable.range(start: 1, count: 9).values(buffering: .bufferingNewest(2))
        .reduce(into: []) { $0.append($1) }
    }
    XCTAssertEqual(newest, [8, 9])
  }

  func test_law30_valuesThrowTheStreamsError() async {
    let seen = Log<Int>()
    do {
      try await withTimeLimit {
        for try await value in Observable.just(1).concat(Observable.error(TestError("x"))).values { seen.add(value) }
      }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? TestError, TestError("x"))
    }
    XCTAssertEqual(seen.all, [1])
  }
}
