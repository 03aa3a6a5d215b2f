import Dispatch
import Streams
import StreamsTesting
import XCTest

/// Streams of several sources that support backpressure, each of which pauses separately.
final class SeveralSourcesTests: StreamsTestCase {
  private let first = Tap()
  private let second = Tap()

  // MARK: Merged

  func test_concatMapResumesAllPausedSources() {
    let scheduler = TestScheduler()
    let seen = Log<Int>()
    let merged = Observable.merge(first.elements.take(5), second.elements.take(5).map { -$0 })
    let subscription =
      merged
      .concatMap { element in Observable<Int>.timer(.seconds(1), scheduler: scheduler).map { _ in element } }
      .subscribe(onNext: { seen.add($0) }, onCompleted: { seen.add(0) })
    XCTAssertLessThanOrEqual(first.count + second.count, 3)
    scheduler.advanceBy(100)
    XCTAssertEqual(seen.all.sorted(), Array(-5...5), "none of the sources stalls")
    XCTAssertEqual(seen.all.last, 0)
    subscription.dispose()
  }

  func test_concatMapInALoopResumesAllPausedSources() async throws {
    let merged = Observable.merge(first.elements.take(100), second.elements.take(100).map { -$0 })
    let values = merged.concatMap { element in Single.from { element }.asObservable() }.values
    let seen = try await withTimeLimit { try await values.reduce(into: []) { $0.append($1) } }
    XCTAssertEqual(seen.sorted(), (-100...100).filter { $0 != 0 })
  }

  func test_aSourcePausesWhileAnElementOfAnotherIsProcessed() async throws {
    let (first, second) = (first, second)
    let isDealtWith = DispatchSemaphore(value: 0)
    let isThere = expectation(description: "the first element is being dealt with")
    let isOver = expectation(description: "all has been delivered")
    let start = TestScheduler()
    let seen = Log<Int>()
    let subscription = Observable.merge(
      first.elements.take(1).map { _ in 0 }.subscribeOn(SerialDispatchQueueScheduler(qos: .utility)),
      second.elements.take(1000).subscribeOn(start)
    )
    .map { element in
      if element == 0 {
        isThere.fulfill()
        isDealtWith.wait()
      }
      return element
    }
    .subscribe(onNext: { seen.add($0) }, onCompleted: { isOver.fulfill() })
    await fulfillment(of: [isThere], timeout: 20)
    start.advanceBy(1)
    XCTAssertEqual(second.count, 1, "the others would gather")
    isDealtWith.signal()
    await fulfillment(of: [isOver], timeout: 20)
    XCTAssertEqual(seen.all, Array(0...1000))
    subscription.dispose()
  }

  func test_mergedSourcesOnManyThreadsLoseNoElements() async throws {
    for _ in 0..<20 {
      let sources = (0..<4).map { _ in
        Tap().elements(burst: 3).take(500).subscribeOn(ConcurrentDispatchQueueScheduler(qos: .utility))
      }
      let sum = try await withTimeLimit { try await Observable.merge(sources).map { $0 }.values.reduce(0, +) }
      XCTAssertEqual(sum, 4 * 125_250)
    }
  }

  // MARK: Triggers

  func test_aTriggerIsNotPausedByTheLoop() {
    let endless = PublishSubject<Int>()
    for (name, stream) in [
      ("takeUntil", endless.takeUntil(first.elements.filter { $0 == 3 })),
      ("skipUntil", endless.skipUntil(first.elements.filter { $0 == 3 })),
      ("sample", endless.sample(first.elements.take(3))),
      ("withLatestFrom", endless.withLatestFrom(first.elements.take(3)) { first, _ in first }),
    ] {
      first.reset()
      let iterator = stream.values.makeAsyncIterator()
      XCTAssertEqual(first.count, 3, "\(name), before the loop has asked")
      withExtendedLifetime(iterator) {}
    }
    first.reset()
    let (source, triggers) = (second, first)
    let failing = source.elements(burst: 1).take(0).concat(Observable<Int>.error(TestError("x")))
    let iterator = failing.retryWhen { errors in
      Observable.merge(errors.map { _ in 0 }.take(0), triggers.elements.take(3))
    }
    .values.makeAsyncIterator()
    XCTAssertEqual(triggers.count, 3)
    withExtendedLifetime(iterator) {}
  }

  func test_withLatestFromDoesNotPauseItsSecondSource() async throws {
    let elements = first.elements.withLatestFrom(second.elements.take(7)) { ($0, $1) }
    try await withTimeLimit {
      var iterator = elements.values.makeAsyncIterator()
      for round in 1...3 {
        let next = try await iterator.next()
        XCTAssertEqual(next?.0, round)
        XCTAssertEqual(next?.1, 7)
      }
    }
  }
}
