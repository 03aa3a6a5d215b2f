import Streams
import StreamsTesting
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
