extension ObservableType {
  /// The elements as an async sequence.
  ///
  /// Each iteration subscribes, and disposes the subscription when its loop ends. Cancelling the task ends the loop
  /// without an error (contract, law 30).
  ///
  /// ```swift
  /// for try await line in network.lines(.get("/export"), as: Line.self).values { await store(line) }
  /// ```
  /// Sources that support backpressure emit only while the loop is requesting an element. These are NetLayer's
  /// `stream`, `lines`, `events` and `pages`, which buffer at most the elements of one chunk of a body.
  ///
  /// Backpressure passes through most operators, with these exceptions:
  /// - `timeout`, which would mistake the pause for silence.
  /// - Operators that deliver elements later or on another thread, such as `observeOn`, `delay` and `share`.
  /// - Operators that buffer elements until another stream emits, such as `zip` and `combineLatest`.
  /// - `merge`, which buffers one element or batch of each source.
  /// - `concatMap` and `merge(maxConcurrent:)`, which pause the outer stream, including its error, until the next inner
  ///   stream may start.
  /// - `flatMap`, which subscribes to all inner streams.
  ///
  /// A paused body keeps its connection open. Suppose that as many loops as `maxConnectionsPerHost` read bodies from one
  /// host, and each calls that host inside the loop. They wait for each other forever. To avoid this, read the body to
  /// its end first, raise `maxConnectionsPerHost`, or limit the elements with `take`.
  ///
  /// All other sources, such as subjects and timers, do not pause, so elements that the loop has not requested yet are
  /// buffered. A source that emits inside `subscribe`, such as `from`, is buffered completely
  /// before the loop begins. If it is endless, apply `subscribeOn` to it.
  public var values: ObservableValues<Element> {
    ObservableValues(source: asObservable(), policy: .all, onDropped: nil)
  }

  /// Returns the elements as an async sequence with a limited buffer; see `values`.
  ///
  /// - Parameters:
  ///   - buffering: The policy for elements that the loop has not requested yet. `values` keeps all of them, without a
  ///     limit. Other policies keep a limited number of the oldest or newest elements.
  ///   - onDropped: A closure that receives each element that `buffering` drops, on the emitting thread.
  public func values(
    buffering: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy,
    onDropped: (@Sendable (Element) -> Void)? = nil
  ) -> ObservableValues<Element> {
    ObservableValues(source: asObservable(), policy: PullPolicy(buffering), onDropped: onDropped)
  }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
  /// Creates an async sequence from a stream, which is subscribed to immediately.
  ///
  /// ```swift
  /// func lines() -> AsyncThrowingStream<Line, any Error> { AsyncThrowingStream(network.lines(.get("/log"), as: Line.self)) }
  /// ```
  /// It is for APIs that return this type, and emits as `values` does, with backpressure. The subscription ends with the task of
  /// the loop, or when the last reference is released.
  public init(_ source: some ObservableType<Element>) {
    let lease = source.values.makeAsyncIterator().lease
    self.init { try await lease.pull.next(isolation: nil) }
  }
}

/// An async sequence of the elements of a stream.
public struct ObservableValues<Element: Sendable>: AsyncSequence, Sendable {
  let source: Observable<Element>
  let policy: PullPolicy
  let onDropped: (@Sendable (Element) -> Void)?

  /// Subscribes to the stream and returns an iterator over its elements.
  public func makeAsyncIterator() -> AsyncIterator {
    let pull = Pull(policy, onDropped)
    // Create the iterator before the stream runs, because the stream may be endless.
    let iterator = AsyncIterator(pull)
    source.run(pull) { if !pull.isStopped { pull.receive($0) } }
    return iterator
  }

  /// An iterator over the elements of one subscription, which it disposes when the loop ends.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate final class Lease: Sendable {
      let pull: Pull<Element>

      init(_ pull: Pull<Element>) { self.pull = pull }

      deinit { pull.dispose() }
    }

    fileprivate let lease: Lease

    fileprivate init(_ pull: Pull<Element>) { lease = Lease(pull) }

    /// Returns the next element, or `nil` after completion or when the task is cancelled.
    ///
    /// - Throws: The error of the stream, once.
    public mutating func next() async throws -> Element? { try await next(isolation: nil) }

    /// Returns the next element, or `nil` after completion or when the task is cancelled.
    ///
    /// - Throws: The error of the stream, once.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      try await lease.pull.next(isolation: actor)
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Returns the elements as a stream; each subscription iterates over the sequence in its own task.
  ///
  /// Disposing cancels that task. The iteration stops at the next element even if the sequence ignores cancellation.
  public func asObservable() -> Observable<Element> {
    Observable.create { observer in
      let task = Task.detached {
        do {
          for try await element in self {
            // Checks for cancellation here too, because the sequence may ignore it and be endless.
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
