extension ObservableType {
  /// The elements as an async sequence; each iteration subscribes, and disposes when its loop ends or its task is
  /// cancelled (law 30).
  ///
  /// - Parameter buffering: what happens to elements that arrive faster than the loop takes them: all are kept, or the
  ///   oldest or newest so many. A source that emits faster than the loop for long needs a limit. A source that emits
  ///   inside `subscribe`, such as `from` without a scheduler, is delivered whole before the loop begins: put `subscribeOn`
  ///   above it if it is endless.
  public func values(
    buffering: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy = .unbounded
  ) -> ObservableValues<Element> {
    ObservableValues(source: asObservable(), buffering: buffering)
  }
}

/// The elements of a stream, as an async sequence.
public struct ObservableValues<Element: Sendable>: AsyncSequence, Sendable {
  /// Takes the elements of one subscription.
  public typealias AsyncIterator = AsyncThrowingStream<Element, any Error>.AsyncIterator

  let source: Observable<Element>
  let buffering: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy

  /// Subscribes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncThrowingStream(Element.self, bufferingPolicy: buffering) { continuation in
      let subscription = SingleAssignmentDisposable()
      continuation.onTermination = { _ in subscription.dispose() }
      subscription.setDisposable(
        source.subscribe(
          onNext: { continuation.yield($0) }, onError: { continuation.finish(throwing: $0) },
          onCompleted: { continuation.finish() }))
    }.makeAsyncIterator()
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The elements as a stream: each subscription iterates in a task of its own; disposing cancels that
  /// task, and the iteration stops at the next element even if the sequence ignores cancellation.
  public func asObservable() -> Observable<Element> {
    Observable.create { observer in
      let task = Task.detached {
        do {
          for try await element in self {
            // Asked here too: the sequence may ignore cancellation, and be endless.
            if Task.isCancelled { return }
            observer.onNext(element)
          }
          observer.onCompleted()
        } catch {
          observer.onError(error)
        }
      }
      return Disposables.create { task.cancel() }
    }
  }
}
