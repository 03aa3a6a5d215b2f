import Streams
import StreamsTesting
import TestSupport
import XCTest

final class ConcatTests: OperatorTestCase {
  func test_subscribesTheSecondWhenTheFirstHasCompleted() {
    let time = TestScheduler()
    let first = time.cold("a-|")
    let second = time.cold("b-|")
    XCTAssertEqual(time.record(first.concat(second)), [.next(0, "a"), .next(2, "b"), .completed(4)])
    XCTAssertEqual(first.subscriptions, [TestSubscription(0, 2)])
    XCTAssertEqual(second.subscriptions, [TestSubscription(2, 4)])
  }

  func test_errorFailsTheResult() {
    let time = TestScheduler()
    let second = time.cold("b|")
    XCTAssertEqual(time.record(time.cold("a-#").concat(second)), Marbles.parse("a-#"))
    XCTAssertEqual(second.subscriptions, [])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.concat(Observable.empty()) } }

  func test_ofNoSourcesCompletes() throws {
    XCTAssertEqual(try Observable<Int>.concat([]).toBlocking().toArray(), [])
    XCTAssertEqual(try Observable.concat(.just(1), .of(2, 3)).toBlocking().toArray(), [1, 2, 3])
  }

  func test_law14_aStreamOfStreamsSubscribesToEachWhenThePreviousHasCompleted() {
    let time = TestScheduler()
    let first = time.cold("a--|")
    let second = time.cold("b-|")
    let outer = time.hot("-12|", ["1": first.asObservable(), "2": second.asObservable()])
    XCTAssertEqual(time.record(outer.concat()), [.next(1, "a"), .next(4, "b"), .completed(6)])
    XCTAssertEqual(first.subscriptions, [TestSubscription(1, 4)])
    XCTAssertEqual(second.subscriptions, [TestSubscription(4, 6)])
  }

  func test_ofAStreamOfStreamsEndsWithTheFirstError() {
    let time = TestScheduler()
    let second = time.cold("b-|")
    let sources = Observable.of(time.cold("-#").asObservable(), second.asObservable())
    XCTAssertEqual(time.record(sources.concat()), [.error(1)])
    XCTAssertEqual(second.subscriptions, [])
    XCTAssertEqual(time.record(Observable<Observable<String>>.empty().concat()).map(\.value), [.completed])
  }

  func test_anObservableNeedsNoType() throws {
    XCTAssertEqual(try Observable.just(1).concat(.just(2)).toBlocking().toArray(), [1, 2])
    XCTAssertThrowsError(try Observable.just(1).concat(.error(TestError())).toBlocking().toArray())
    XCTAssertEqual(try Observable.just(1).amb(.never()).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable.just(1).concat(Single.just(2)).toBlocking().toArray(), [1, 2])
  }
}

/// A sequence of streams that never ends and counts how many were requested.
private struct EndlessStreams: Sequence, Sendable {
  let requested = Counter()

  func makeIterator() -> AnyIterator<Observable<Int>> {
    var number = 0
    return AnyIterator { [requested] in
      requested.next()
      number += 1
      return .just(number)
    }
  }
}

extension ConcatTests {
  func test_law27_lazySequence_isRequestedByTheLoop() async throws {
    let streams = EndlessStreams()
    var seen: [Int] = []
    for try await number in Observable.concat(streams).values {
      seen.append(number)
      if number == 3 { break }
    }
    XCTAssertEqual(seen, [1, 2, 3])
    XCTAssertLessThanOrEqual(streams.requested.value, 4, "a loop that reads three elements requests no more")
  }

  func test_retry_thatTheLoopDoesNotAskFor_waits() async throws {
    struct Failed: Error {}
    let attempts = Counter()
    let source = Observable<Int>.deferred {
      attempts.next()
      return Observable.just(attempts.value).concat(.error(Failed()))
    }
    for try await number in source.retry().values where number == 2 { break }
    XCTAssertLessThanOrEqual(attempts.value, 3)
  }
}
