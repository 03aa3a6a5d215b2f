import Foundation
import Streams

/// A stream as a blocking call: for tests and command-line tools.
public struct BlockingObservable<Element: Sendable>: Sendable {
  let source: Observable<Element>
  let timeout: Duration?

  /// All elements, when the stream has completed.
  ///
  /// - Throws: the stream's error, or `StreamError.timeout` when it has not ended in time.
  public func toArray() throws -> [Element] {
    guard
      let elements = try BlockingWait.elements(
        of: source, within: timeout, mainLoop: Self.mainLoop)
    else {
      throw StreamError.timeout
    }
    return elements
  }

  /// The first element, or `nil` of a stream without any; does not wait for the end.
  ///
  /// - Throws: the stream's error, or `StreamError.timeout`.
  public func first() throws -> Element? {
    try BlockingObservable(source: source.take(1), timeout: timeout).toArray().first
  }

  /// The last element, or `nil` of a stream without any.
  ///
  /// - Throws: the stream's error, or `StreamError.timeout`.
  public func last() throws -> Element? { try toArray().last }

  /// The only element.
  ///
  /// - Throws: the stream's error, `StreamError.noElements`, `.moreThanOneElement` or `.timeout`.
  public func single() throws -> Element {
    let elements = try BlockingObservable(source: source.asSingle().asObservable(), timeout: timeout).toArray()
    guard let element = elements.first else { throw StreamError.noElements }
    return element
  }
}

extension BlockingObservable {
  /// What the main thread does while it waits; `nil` on other threads, which only wait.
  private static var mainLoop: ((DispatchSemaphore) -> Void)? {
    guard Thread.isMainThread else { return nil }
    return { done in runMainLoop(until: done) }
  }

  /// Waits for `done` on the main thread, and runs what is on the main queue meanwhile.
  private static func runMainLoop(until done: DispatchSemaphore) {
    while done.wait(timeout: .now()) != .success {
      let ran = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      // It runs nothing inside an item of the main queue: then only another thread can end the stream.
      if !ran, done.wait(timeout: .now() + .milliseconds(1)) == .success { return }
    }
  }
}

extension ObservableConvertibleType {
  /// The stream as a blocking call, for at most `timeout`, or without limit for `nil`.
  ///
  /// The calling thread must not be one that the stream needs, except for the main thread: there, the main run loop runs
  /// while the call waits, so that streams on `MainScheduler` end (unless the call comes from inside an item of the main
  /// queue).
  public func toBlocking(timeout: Duration? = nil) -> BlockingObservable<Element> {
    BlockingObservable(source: asObservable(), timeout: timeout)
  }
}
