import Foundation
import Synchronization
import XCTest

/// A body whose sequence waits forever after its first chunk, like a recorder during silence.
final class WaitingChunks: Sendable {
  /// Fulfilled when the second chunk is awaited, and when the task that awaits it is cancelled.
  let awaited: XCTestExpectation
  let cancelled: XCTestExpectation

  init(_ test: XCTestCase) {
    awaited = test.expectation(description: "the second chunk is awaited")
    cancelled = test.expectation(description: "the task that awaits it is cancelled")
  }

  /// The sequence, which can be iterated once.
  var chunks: AsyncStream<Data> {
    let (silence, continuation) = AsyncStream.makeStream(of: Data.self)
    continuation.onTermination = { [cancelled] in if case .cancelled = $0 { cancelled.fulfill() } }
    let isFirst = Atomic<Bool>(true)
    return AsyncStream(unfolding: { [awaited] in
      if isFirst.exchange(false, ordering: .acquiringAndReleasing) { return Data("first".utf8) }
      awaited.fulfill()
      for await chunk in silence { return chunk }
      withExtendedLifetime(continuation) {}
      return nil
    })
  }
}
