import Streams
import StreamsTesting
import TestSupport
import XCTest

final class AsyncSequenceTests: StreamsTestCase {
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

  func test_streamsBecomeAsyncThrowingStreams() async throws {
    var elements: [Int] = []
    for try await element in AsyncThrowingStream(Observable.from(1...3)) { elements.append(element) }
    XCTAssertEqual(elements, [1, 2, 3])

    let failing = AsyncThrowingStream(Observable.from(1...2).concat(.error(TestError("stream"))))
    elements = []
    do {
      for try await element in failing { elements.append(element) }
      XCTFail("the stream fails")
    } catch {
      XCTAssertEqual(error as? TestError, TestError("stream"))
    }
    XCTAssertEqual(elements, [1, 2])
  }

  func test_asyncThrowingStreams_endTheirSubscriptionAndPause() async throws {
    let (counter, disposed) = (Counter(), Counter())
    let lazy = Observable.from(
      (1...1000).lazy.map { value -> Int in
        counter.next()
        return value
      }
    ).do(onDispose: { disposed.next() })
    var stream: AsyncThrowingStream<Int, any Error>? = AsyncThrowingStream(lazy)
    for try await element in stream! where element == 2 { break }
    stream = nil
    waitUntil("the subscription has ended") { disposed.value == 1 }

    let subject = PublishSubject<Int>()
    let task = Task {
      for try await element in AsyncThrowingStream(subject) { return element }
      return 0
    }
    waitUntil("the loop has subscribed") { subject.hasObservers }
    task.cancel()
    let value = try await task.value
    XCTAssertEqual(value, 0, "cancelling the task ends the loop without an error")
    waitUntil("the subscription has ended") { !subject.hasObservers }
  }

  func test_asyncSequenceThatIgnoresCancellationIsAbandonedAfterDisposal() {
    var token: Token? = Token()
    weak var held: Token?
    held = token
    let completed = expectation(description: "completed")
    let subscription = EndlessCounter(token: token).asObservable().take(1).subscribe(
      onCompleted: { completed.fulfill() })
    token = nil
    wait(for: [completed], timeout: 20)
    subscription.dispose()
    waitUntil("the iteration has ended and released the sequence") { held == nil }
  }
}

/// A sequence that counts forever and ignores cancellation.
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
