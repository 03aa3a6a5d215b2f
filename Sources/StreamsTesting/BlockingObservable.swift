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
    // Guard what the stream writes and the caller reads after its end.
    let elements = Locked<[Element]>([])
    // The stream's thread writes, the waiting one reads behind the semaphore.
    let end = Locked<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let subscription = source.subscribe(
      onNext: { element in elements.withLock { $0.append(element) } },
      onError: { error in end.withLock { $0 = .failure(error) } },
      onCompleted: { end.withLock { $0 = .success(()) } },
      onDisposed: {
        done.signal()
        // Wakes the run loop below.
        DispatchQueue.main.async {}
      })
    defer { subscription.dispose() }
    let limit = timeout.map { DispatchTime.now() + $0 / .seconds(1) } ?? .distantFuture
    guard Thread.isMainThread ? Self.runMainLoop(until: done, limit) : done.wait(timeout: limit) == .success else {
      throw StreamError.timeout
    }
    try end.withLock { $0 }?.get()
    return elements.withLock { $0 }
  }

  /// Runs the main run loop, so that a stream which ends on the main queue can end.
  private static func runMainLoop(until done: DispatchSemaphore, _ limit: DispatchTime) -> Bool {
    while done.wait(timeout: .now()) != .success {
      guard DispatchTime.now() < limit else { return false }
      let ran = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      // It runs nothing inside an item of the main queue: then only another thread can end the stream.
      if !ran, done.wait(timeout: .now() + .milliseconds(1)) == .success { return true }
    }
    return true
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
