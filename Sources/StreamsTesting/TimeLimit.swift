import Streams
import Synchronization

/// Returns the result of `body`, or throws `StreamError.timeout` after `limit`; `body` is then cancelled but not
/// awaited.
///
/// Use it in tests that await a result: a wait that is never resumed fails one test instead of blocking the run.
package func withTimeLimit<Result: Sendable>(
  _ limit: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let (results, first) = AsyncStream<Swift.Result<Result, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
  let work = Task {
    do { first.yield(.success(try await body())) } catch { first.yield(.failure(error)) }
  }
  let clock = Task {
    try await Task.sleep(for: limit)
    first.yield(.failure(StreamError.timeout))
  }
  defer {
    work.cancel()
    clock.cancel()
  }
  for await result in results { return try result.get() }
  throw CancellationError()
}
