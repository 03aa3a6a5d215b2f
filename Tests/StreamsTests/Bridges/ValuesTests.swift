import Streams
import StreamsTesting
import XCTest

final class ValuesTests: StreamsTestCase {
  private let source = Tap()

  // MARK: Sources with backpressure

  func test_aSourceWithBackpressureEmitsOnlyWhatTheLoopRequests() async throws {
    try await expectPulling(source.elements)
  }

  func test_backpressurePassesThroughOperators() async throws {
    let elements = source.elements
    try await expectPulling(elements.map { $0 }.filter { _ in true }.scan(0) { $1 })
    try await expectPulling(
      elements.take(1000).takeWhile { _ in true }.do(onCompleted: {}).startWith().catchError { throw $0 })
    try await expectPulling(elements.flatMap { Observable.just($0) })
    try await expectPulling(Observable.just(0).flatMap { _ in elements })
    try await expectPulling(Observable.just(0).flatMapLatest { _ in elements })
    try await expectPulling(Observable.just(0).concatMap { _ in elements })
    try await expectPulling(elements.concatMap { Observable.just($0) })
    try await expectPulling(Observable<Int>.empty().concat(elements).retry(3).retryWhen { $0 })
    try await expectPulling(Observable.merge(elements, .never()))
    try await expectPulling(Observable.zip(elements, Observable.from(1...1000)) { first, _ in first })
  }

  func test_backpressureEndsAtAnOperatorThatChangesThreads() async throws {
    let values = source.elements.take(1000).observeOn(SerialDispatchQueueScheduler(qos: .utility)).values
    let source = source
    try await withTimeLimit {
      var iterator = values.makeAsyncIterator()
      let first = try await iterator.next()
      XCTAssertEqual(first, 1)
      XCTAssertEqual(source.count, 1000, "all of it waits in the buffers of observeOn and values")
    }
  }

  func test_concatMapRequestsTheNextElementWhenItsStreamHasCompleted() {
    let scheduler = TestScheduler()
    let subscription = source.elements
      .concatMap { element in Observable<Int>.timer(.seconds(10), scheduler: scheduler).map { _ in element } }
      .subscribe()
    XCTAssertEqual(source.count, 1)
    scheduler.advanceBy(10)
    XCTAssertEqual(source.count, 2)
    subscription.dispose()
    scheduler.advanceBy(10)
    XCTAssertEqual(source.count, 2)
  }

  func test_concatMapQueuesAtMostOneStepOfItsSource() {
    let first = PublishSubject<Int>()
    let largest = Locked(0)
    let source = source
    let subscription = source.elements(burst: 3).take(30_000)
      .concatMap { element -> Observable<Int> in
        if element == 1 { return first.asObservable() }
        // A stream that is not known in advance, and completes immediately.
        return Observable.deferred {
          largest.withLock { $0 = max($0, source.count - element) }
          return .empty()
        }
      }
      .subscribe()
    XCTAssertEqual(source.count, 3)
    first.onCompleted()
    XCTAssertEqual(source.count, 30_000)
    XCTAssertEqual(largest.withLock { $0 }, 2)
    subscription.dispose()
  }

  func test_disposingAConcatMapReleasesThePausedSource() {
    weak var held: Token?
    do {
      let token = Token()
      held = token
      let subscription = source.elements.do(onNext: { _ in withExtendedLifetime(token) {} })
        .concatMap { _ in Observable<Int>.never() }.subscribe()
      subscription.dispose()
    }
    XCTAssertNil(held)
  }

  func test_timeoutDoesNotFireOverASlowLoopWhileTheSourceSends() async throws {
    let scheduler = TestScheduler(resolution: .seconds(1))
    let source = source
    try await withTimeLimit {
      var iterator = source.elements.take(100).concat(Observable.never()).timeout(.seconds(5), scheduler: scheduler)
        .values.makeAsyncIterator()
      XCTAssertEqual(source.count, 100, "all of it waits in the buffer of values")
      for expected in 1...100 {
        let next = try await iterator.next()
        XCTAssertEqual(next, expected)
        if expected < 4 { scheduler.advanceBy(1) }
      }
      scheduler.advanceBy(10)
      do {
        _ = try await iterator.next()
        XCTFail("the source is silent")
      } catch {
        XCTAssertEqual(error as? StreamError, .timeout)
      }
    }
  }

  func test_timeoutFiresAboveAConcatMapThatIsBusy() {
    let scheduler = TestScheduler(resolution: .seconds(1))
    let error = Locked<(any Error)?>(nil)
    let subscription = source.elements.take(1).concat(Observable.never()).timeout(.seconds(5), scheduler: scheduler)
      .concatMap { _ in Observable<Int>.never() }
      .subscribe(onError: { thrown in error.withLock { $0 = thrown } })
    scheduler.advanceBy(6)
    XCTAssertEqual(error.withLock { $0 as? StreamError }, .timeout)
    subscription.dispose()
  }

  /// Takes three elements of a stream derived from `source`, and checks that the source has emitted no others.
  private func expectPulling(_ elements: Observable<Int>, line: UInt = #line) async throws {
    source.reset()
    let source = source
    try await withTimeLimit {
      var iterator = elements.values.makeAsyncIterator()
      for round in 1...3 {
        let next = try await iterator.next()
        XCTAssertEqual(next, round, line: line)
        XCTAssertEqual(source.count, round, line: line)
      }
    }
    waitUntil("the source is left") { self.source.isLeft }
  }

  // MARK: Sources without backpressure

  func test_theBufferKeepsAllByDefault() async throws {
    let seen = try await withTimeLimit { try await Observable.range(start: 0, count: 10_000).values.reduce(0, +) }
    XCTAssertEqual(seen, 49_995_000)
  }

  func test_aLimitedBufferReportsDroppedElements() async throws {
    for (policy, kept) in [
      (AsyncThrowingStream<Int, any Error>.Continuation.BufferingPolicy.bufferingNewest(2), [8, 9]),
      (.bufferingOldest(3), [1, 2, 3]), (.bufferingOldest(0), []), (.bufferingNewest(0), []),
      (.unbounded, Array(1...9)),
    ] {
      let dropped = Log<Int>()
      let values = Observable.range(start: 1, count: 9).values(buffering: policy) { dropped.add($0) }
      let seen = try await withTimeLimit { try await values.reduce(into: []) { $0.append($1) } }
      XCTAssertEqual(seen, kept)
      XCTAssertEqual(dropped.all, Array(1...9).filter { !kept.contains($0) })
    }
  }

  func test_anElementForAWaitingLoopIsNotDroppedByAnEmptyBuffer() async throws {
    let subject = PublishSubject<Int>()
    let task = Task {
      try await subject.values(buffering: .bufferingNewest(0)).first { _ in true }
    }
    let sent = Task {
      while !Task.isCancelled {
        subject.onNext(7)
        await Task.yield()
      }
    }
    let first = try await withTimeLimit { try await task.value }
    sent.cancel()
    XCTAssertEqual(first, 7)
  }

  func test_anErrorIsDeliveredOnceAfterTheBufferedElements() async throws {
    try await withTimeLimit {
      var iterator = Observable.of(1, 2).concat(Observable.error(TestError("x"))).values.makeAsyncIterator()
      var seen: [Int] = []
      do {
        while let next = try await iterator.next() { seen.append(next) }
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error as? TestError, TestError("x"))
      }
      XCTAssertEqual(seen, [1, 2])
      let after = try await iterator.next()
      XCTAssertNil(after)
    }
  }

  func test_anErrorIsDeliveredOnceToAWaitingLoop() async throws {
    let subject = PublishSubject<Int>()
    try await withTimeLimit {
      var iterator = subject.values.makeAsyncIterator()
      let sender = Task {
        // Sent before or after the loop's request: many runs try both.
        await Task.yield()
        subject.onError(TestError("x"))
      }
      do {
        _ = try await iterator.next()
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error as? TestError, TestError("x"))
      }
      await sender.value
      for _ in 0..<2 {
        let after = try await iterator.next()
        XCTAssertNil(after)
      }
    }
  }

  // MARK: Ending the loop

  func test_cancellingAWaitingLoopDisposesAndEndsIt() async throws {
    let disposed = expectation(description: "disposed")
    let subscribed = expectation(description: "subscribed")
    let source = Observable<Int>.create { _ in
      subscribed.fulfill()
      return Disposables.create { disposed.fulfill() }
    }
    let task = Task { try await source.values.reduce(0, +) }
    await fulfillment(of: [subscribed], timeout: 20)
    task.cancel()
    await fulfillment(of: [disposed], timeout: 20)
    let sum = try await withTimeLimit { try await task.value }
    XCTAssertEqual(sum, 0)
  }

  func test_cancellingARunningLoopDropsBufferedElements() async throws {
    let disposals = Log<Int>()
    let source = Observable<Int>.create { observer in
      for value in 1...5 { observer.onNext(value) }
      return Disposables.create { disposals.add(1) }
    }
    let task = Task {
      var seen: [Int] = []
      for try await value in source.values {
        seen.append(value)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return seen
    }
    let seen = try await withTimeLimit { try await task.value }
    XCTAssertEqual(seen, [1])
    XCTAssertEqual(disposals.all, [1])
  }

  func test_cancellingALoopWhoseSourceHasCompletedDropsBufferedElements() async throws {
    let task = Task {
      var seen: [Int] = []
      for try await value in Observable.range(start: 0, count: 100_000).values {
        seen.append(value)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return seen
    }
    let seen = try await withTimeLimit { try await task.value }
    XCTAssertEqual(seen, [0])
  }

  func test_cancellingALoopWhoseSourceHasFailedEndsItWithoutTheError() async throws {
    for values in [[1], [1, 2]] {
      let task = Task {
        var iterator = Observable.from(values).concat(Observable.error(TestError("x"))).values.makeAsyncIterator()
        let first = try await iterator.next()
        withUnsafeCurrentTask { $0?.cancel() }
        for _ in 0..<2 {
          let after = try await iterator.next()
          XCTAssertNil(after)
        }
        return first
      }
      let first = try await withTimeLimit { try await task.value }
      XCTAssertEqual(first, 1)
    }
  }

  func test_releasingAnIteratorBeforeItsFirstElementDisposes() {
    do { _ = source.elements.values.makeAsyncIterator() }
    XCTAssertTrue(source.isLeft)
    XCTAssertEqual(source.count, 0)
  }

  func test_elementsAndCancellationRaceWithoutLosingTheTerminalEvent() async throws {
    for _ in 0..<200 {
      let subject = PublishSubject<Int>()
      let task = Task { try await subject.values.reduce(0) { sum, _ in sum + 1 } }
      let sender = Task { for value in 0..<20 { subject.onNext(value) } }
      task.cancel()
      _ = try await withTimeLimit { try await task.value }
      await sender.value
    }
  }
}
