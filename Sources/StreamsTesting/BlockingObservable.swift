import Foundation
import Streams
import Synchronization

/// A stream as a blocking call: for tests and command-line tools.
public struct BlockingObservable<Element: Sendable>: Sendable {
  let source: Observable<Element>
  let timeout: Duration?

  /// All elements, when the stream has completed.
  ///
  /// - Throws: the stream's error, or `StreamError.timeout` when it has not ended in time.
  public func toArray() throws -> [Element] {
    let elements = Locked<[Element]>([])
    let end = Locked<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let subscription = source.subscribe(
      onNext: { element in elements.withLock { $0.append(element) } },
      onError: { error in end.withLock { $0 = .failure(error) } },
      onCompleted: { end.withLock { $0 = .success(()) } },
      onDisposed: { done.signal() })
    defer { subscription.dispose() }
    if let timeout {
      let (seconds, attoseconds) = timeout.components
      let limit = DispatchTime.now() + Double(seconds) + Double(attoseconds) / 1e18
      guard done.wait(timeout: limit) == .success else { throw StreamError.timeout }
    } else {
      done.wait()
    }
    try end.withLock { $0 }?.get()
    return elements.withLock { $0 }
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
  /// The stream as a blocking call, for at most `timeout`; the calling thread must not be one the stream needs.
  public func toBlocking(timeout: Duration? = nil) -> BlockingObservable<Element> {
    BlockingObservable(source: asObservable(), timeout: timeout)
  }
}
