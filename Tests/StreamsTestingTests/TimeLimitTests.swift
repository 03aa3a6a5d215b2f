import Streams
import StreamsTesting
import XCTest

final class TimeLimitTests: XCTestCase {
  func test_aWaitThatIsNeverResumedTimesOut() async {
    let abandoned = Single<Int>.never()
    do {
      _ = try await withTimeLimit(.milliseconds(20)) { try await abandoned.value }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? StreamError, .timeout)
    }
    do {
      // Ignores its cancellation.
      try await withTimeLimit(.milliseconds(20)) {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, _>) in }
      }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? StreamError, .timeout)
    }
  }

  func test_aWaitThatTimesOutIsCancelled() async {
    let wasCancelled = AsyncStream<Bool>.makeStream()
    _ = try? await withTimeLimit(.milliseconds(20)) {
      try? await Task.sleep(for: .seconds(60))
      wasCancelled.continuation.yield(Task.isCancelled)
    }
    var results = wasCancelled.stream.makeAsyncIterator()
    let result = await results.next()
    XCTAssertEqual(result, true)
  }

  func test_eventsInTimeAreForwarded() async throws {
    let value = try await withTimeLimit { 3 }
    XCTAssertEqual(value, 3)
    do {
      try await withTimeLimit { throw TestError("x") }
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error as? TestError, TestError("x"))
    }
  }
}
