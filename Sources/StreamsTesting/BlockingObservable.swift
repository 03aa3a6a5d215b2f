import Streams

/// A stream that blocks the calling thread until it has terminated, for tests and command-line tools.
public struct BlockingObservable<Element: Sendable>: Sendable {
  let source: Observable<Element>
  let timeout: Duration?

  /// Waits until the stream has completed, and returns all elements.
  ///
  /// - Throws: The error of the stream, or `StreamError.timeout` if it has not terminated in time.
  public func toArray() throws -> [Element] {
    guard let elements = try BlockingWait.elements(of: source, within: timeout, runsMainLoop: true) else {
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

extension ObservableConvertibleType {
  /// Converts the stream to blocking calls that wait for at most `timeout`; pass `nil` for no limit.
  ///
  /// The stream must not depend on the calling thread, unless that is the main thread: there, the main run loop runs
  /// during the call, so that streams on `MainScheduler` terminate. It cannot run if the call comes from inside an item
  /// of the main queue.
  public func toBlocking(timeout: Duration? = nil) -> BlockingObservable<Element> {
    BlockingObservable(source: asObservable(), timeout: timeout)
  }
}
