import Streams
import XCTest

final class HooksTests: StreamsTestCase {
  /// Asks for the handler while it goes away, as user code may in a `deinit`.
  private final class Asker: Sendable {
    let hasGone: XCTestExpectation

    init(_ hasGone: XCTestExpectation) { self.hasGone = hasGone }

    deinit {
      _ = Hooks.onUnhandledError
      hasGone.fulfill()
    }
  }

  func test_replacedHandlerIsReleasedOutsideTheLock() {
    let former = Hooks.onUnhandledError
    let hasGone = expectation(description: "the handler's object has gone")
    // On a thread of its own: a lock taken twice would hang here for ever.
    Thread.detachNewThread {
      Hooks.onUnhandledError = { [asker = Asker(hasGone)] _, _, _ in withExtendedLifetime(asker) {} }
      Hooks.onUnhandledError = former
    }
    wait(for: [hasGone], timeout: 10)
  }
}
