import Streams
import XCTest

final class HooksTests: StreamsTestCase {
  /// An object that reads the handler in its `deinit`, as user code may.
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
    // On a separate thread: taking the lock twice would hang here forever.
    Thread.detachNewThread {
      Hooks.onUnhandledError = { [asker = Asker(hasGone)] _, _, _ in withExtendedLifetime(asker) {} }
      Hooks.onUnhandledError = former
    }
    wait(for: [hasGone], timeout: 60)
  }
}
