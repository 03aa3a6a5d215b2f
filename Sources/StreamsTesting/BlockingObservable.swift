import Streams

/// A stream as a blocking call: for tests and command-line tools.
public struct BlockingObservable<Element: Sendable>: Sendable {
  let source: Observable<Element>
  let timeout: Duration?

  /// All elements, when the stream has completed.
  ///
  /// - Throws: the stream's error, or `StreamError.timeout` when it has not ended in time.
  public func toArray() throws -> [Element] {
    guard let elements = try BlockingWait.elements(of: source, within: timeout, runsMainLoop: true) else {
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
