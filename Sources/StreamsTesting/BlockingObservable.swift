import Foundation
import Streams

/// A stream that blocks the calling thread until it has terminated, for tests and command-line tools.
public struct BlockingObservable<Element: Sendable>: Sendable {
  let source: Observable<Element>
  let timeout: Duration?

  /// Waits until the stream has completed, and returns all elements.
  ///
  /// - Throws: The error of the stream, or `StreamError.timeout` if it does not terminate in time.
  public func toArray() throws -> [Element] {
    guard
      let elements = try BlockingWait.elements(
        of: source, within: timeout, mainLoop: Self.mainLoop)
    else {
      throw StreamError.timeout
    }
    return elements
  }

  /// Waits for the first element and returns it, or `nil` if the stream is empty; does not wait for completion.
  ///
  /// - Throws: The error of the stream, or `StreamError.timeout`.
  public func first() throws -> Element? {
    try BlockingObservable(source: source.take(1), timeout: timeout).toArray().first
  }

  /// Waits until the stream has completed, and returns the last element, or `nil` if the stream is empty.
  ///
  /// - Throws: The error of the stream, or `StreamError.timeout`.
  public func last() throws -> Element? { try toArray().last }

  /// Waits until the stream has completed, and returns its only element.
  ///
  /// - Throws: The error of the stream, `StreamError.noElements`, `.moreThanOneElement` or `.timeout`.
  public func single() throws -> Element {
    let elements = try BlockingObservable(source: source.asSingle().asObservable(), timeout: timeout).toArray()
    guard let element = elements.first else { throw StreamError.noElements }
    return element
  }
}

extension BlockingObservable {
  /// A function that waits on the main thread; `nil` on other threads.
  private static var mainLoop: ((DispatchSemaphore) -> Void)? {
    guard Thread.isMainThread else { return nil }
    return { done in runMainLoop(until: done) }
  }

  /// Waits for `done` on the main thread, and runs the items of the main queue meanwhile.
  private static func runMainLoop(until done: DispatchSemaphore) {
    while done.wait(timeout: .now()) != .success {
      let ran = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      // Inside an item of the main queue, the run loop runs nothing, so only another thread can end the stream.
      if !ran, done.wait(timeout: .now() + .milliseconds(1)) == .success { return }
    }
  }
}

extension ObservableConvertibleType {
  /// Converts the stream to blocking calls that wait for at most `timeout`; pass `nil` for no limit.
  ///
  /// The stream must not depend on the calling thread, except on the main thread, where the main run loop runs during
  /// the call, so that streams on `MainScheduler` terminate. The run loop cannot run if the call comes from inside an
  /// item of the main queue.
  public func toBlocking(timeout: Duration? = nil) -> BlockingObservable<Element> {
    BlockingObservable(source: asObservable(), timeout: timeout)
  }
}
