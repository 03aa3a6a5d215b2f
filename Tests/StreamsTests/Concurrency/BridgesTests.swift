import Streams
import StreamsTesting
import XCTest

final class BridgesTests: StreamsTestCase {
  func test_asyncClosureGivesItsResultOrError() async throws {
    let value = try await withTimeLimit { try await Single.from { () async throws -> Int in 3 }.value }
    XCTAssertEqual(value, 3)
    let failing = Single<Int>.from { throw TestError("async") }
    do {
      _ = try await withTimeLimit { try await failing.value }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? TestError, TestError("async"))
    }
  }

  func test_disposingCancelsTheTask() {
    let started = expectation(description: "started")
    let cancelled = expectation(description: "cancelled")
    let subscription = Single<Int>.from {
      await withTaskCancellationHandler {
        started.fulfill()
        // Ends when it is cancelled.
        for await _ in AsyncStream<Int>.makeStream().stream {}
        return 1
      } onCancel: {
        cancelled.fulfill()
      }
    }.subscribe()
    wait(for: [started], timeout: 20)
    subscription.dispose()
    wait(for: [cancelled], timeout: 20)
  }

  func test_asyncSequencesBecomeStreams() throws {
    let sequence = AsyncStream<Int> { continuation in
      for value in 1...3 { continuation.yield(value) }
      continuation.finish()
    }
    XCTAssertEqual(try sequence.asObservable().toBlocking(timeout: .seconds(20)).toArray(), [1, 2, 3])
    let failing = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: TestError("sequence")) }
    XCTAssertThrowsError(try failing.asObservable().toBlocking(timeout: .seconds(20)).toArray()) {
      XCTAssertEqual($0 as? TestError, TestError("sequence"))
    }
  }

  func test_results() throws {
    XCTAssertEqual(try Result<Int, TestError>.success(1).asSingle().toBlocking().single(), 1)
    XCTAssertThrowsError(try Result<Int, TestError>.failure(TestError()).asSingle().toBlocking().single())
    let result = try Single<Int>.error(TestError("x")).asResult().toBlocking().single()
    XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? TestError, TestError("x")) }
  }

  func test_law31_subscribeOnMainRunsOnTheMainActor() {
    let done = expectation(description: "done")
    let log = Log<String>()
    let subscription = Observable.of(1, 2).subscribeOn(ConcurrentDispatchQueueScheduler(qos: .default))
      .subscribeOnMain(
        onNext: { value in
          MainActor.assertIsolated()
          log.add("\(value)")
        },
        onCompleted: {
          MainActor.assertIsolated()
          done.fulfill()
        })
    wait(for: [done], timeout: 20)
    XCTAssertEqual(log.all, ["1", "2"])
    subscription.dispose()
  }

  @MainActor
  func test_law31_closuresMadeOnTheMainActorDoNotTrapElsewhere() {
    let done = expectation(description: "done")
    // Written on the main actor, run elsewhere: it would trap if it inherited the actor.
    let subscription = Observable.of(1, 2).observeOn(ConcurrentDispatchQueueScheduler(qos: .default))
      .map { $0 + 1 }.filter { $0 > 0 }.do(onNext: { _ in })
      .subscribe(onNext: { _ in }, onCompleted: { done.fulfill() })
    wait(for: [done], timeout: 20)
    subscription.dispose()
  }

  func test_asyncSequenceThatIgnoresCancellationIsLeftAfterDisposal() {
    var token: Token? = Token()
    weak let held = token
    let completed = expectation(description: "completed")
    let subscription = EndlessCounter(token: token).asObservable().take(1).subscribe(
      onCompleted: { completed.fulfill() })
    token = nil
    wait(for: [completed], timeout: 20)
    subscription.dispose()
    waitUntil("the iteration has ended and released the sequence") { held == nil }
  }
}

private final class Token: Sendable {}

/// Counts without end and never looks at cancellation.
private struct EndlessCounter: AsyncSequence, AsyncIteratorProtocol, Sendable {
  let token: Token?
  var count = 0

  init(token: Token?) { self.token = token }

  func makeAsyncIterator() -> EndlessCounter { self }

  mutating func next() async -> Int? {
    count += 1
    return count
  }
}
