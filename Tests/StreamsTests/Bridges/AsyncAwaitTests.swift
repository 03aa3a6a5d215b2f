import Streams
import StreamsTesting
import XCTest

final class AsyncAwaitTests: StreamsTestCase {
  func test_asyncClosureEmitsItsResultOrError() async throws {
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
}
