extension ObservableType {
  /// The elements as an async sequence; each iteration subscribes, and disposes when its loop ends or its task is
  /// cancelled, which ends the loop without an error (law 30).
  ///
  /// ```swift
  /// for try await line in network.lines(.get("/export"), as: Line.self).values() { await store(line) }
  /// ```
  /// A source that can wait emits only while the loop asks for an element. Those are NetLayer's `stream`, `lines`, `events` and
  /// `pages`: what they send ahead is at most what one chunk of a body has. They wait through all operators but `timeout`,
  /// which would take their waiting for silence, and those that hold elements for another time or thread, such as
  /// `observeOn`, `delay` and `share`, or for another stream, as `zip` and `combineLatest` do. `merge` of several sends one
  /// step of each ahead. `concatMap` and `merge(maxConcurrent:)` make them wait until a stream may start, also with their
  /// error; `flatMap` takes as many as come.
  ///
  /// A body that waits keeps its connection. Six loops over bodies of one host, each of which calls that host inside, wait for
  /// one another forever where the transport has six connections per host, its default. Read the body to its end first, raise
  /// `maxConnectionsPerHost`, or `take` what is needed.
  ///
  /// All other sources, such as subjects and timers, emit as they do, and the buffer keeps what the loop has not taken. A
  /// source that emits inside `subscribe`, such as `from` without a scheduler, is delivered whole before the loop begins:
  /// put `subscribeOn` above it if it is endless.
  ///
  /// - Parameters:
  ///   - buffering: what happens to elements that the loop has not asked for: all are kept, without a limit (the default,
  ///     which loses nothing), or the oldest or newest so many.
  ///   - onDropped: called with each element that `buffering` drops, on the thread that emits.
  public func values(
    buffering: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy = .unbounded,
    onDropped: (@Sendable (Element) -> Void)? = nil
  ) -> ObservableValues<Element> {
    ObservableValues(source: asObservable(), policy: PullPolicy(buffering), onDropped: onDropped)
  }
}

/// The elements of a stream, as an async sequence.
public struct ObservableValues<Element: Sendable>: AsyncSequence, Sendable {
  let source: Observable<Element>
  let policy: PullPolicy
  let onDropped: (@Sendable (Element) -> Void)?

  /// Subscribes.
  public func makeAsyncIterator() -> AsyncIterator {
    let pull = Pull(policy, onDropped)
    // Before the stream runs, which may be all that it does.
    let iterator = AsyncIterator(pull)
    source.run(pull) { if !pull.isStopped { pull.receive($0) } }
    return iterator
  }

  /// Takes the elements of one subscription, and disposes it when the loop is left.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private final class Lease: Sendable {
      let pull: Pull<Element>

      init(_ pull: Pull<Element>) { self.pull = pull }

      deinit { pull.dispose() }
    }

    private let lease: Lease

    fileprivate init(_ pull: Pull<Element>) { lease = Lease(pull) }

    /// The next element; `nil` at the end, or when the task is cancelled.
    ///
    /// - Throws: the stream's error, once.
    public mutating func next() async throws -> Element? { try await next(isolation: nil) }

    /// The next element; `nil` at the end, or when the task is cancelled.
    ///
    /// - Throws: the stream's error, once.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      try await lease.pull.next(isolation: actor)
    }
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
