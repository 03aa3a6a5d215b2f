extension Single {
  /// The element, awaited: subscribes, and resumes exactly once (law 30).
  ///
  /// - Throws: the single's error, or `CancellationError` when the task is cancelled, which disposes the subscription.
  public var value: Element {
    get async throws {
      let awaiter = Awaiter<Element>()
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          awaiter.await(continuation) {
            subscribe(
              onSuccess: { awaiter.resume(.success($0)) }, onError: { awaiter.resume(.failure($0)) },
              onDisposed: { awaiter.resume(.failure(StreamError.disposed)) })
          }
        }
      } onCancel: {
        awaiter.cancel()
      }
    }
  }
}

extension Completable {
  /// Waits for the end; subscribes, and resumes exactly once (law 30).
  ///
  /// - Throws: the completable's error, or `CancellationError` when the task is cancelled, which disposes it.
  public var value: Void {
    get async throws {
      try await Single(trusted: observable.map { (_: Never) -> Void in }.concat(Observable<Void>.just(()))).value
    }
  }
}

extension Single {
  /// The result of `work`, which runs as a task of its own at each subscription; disposing cancels the task, and a task
  /// that is cancelled from inside fails with its error.
  public static func from(
    priority: TaskPriority? = nil, _ work: @escaping @Sendable () async throws -> Element
  ) -> Single<Element> {
    Single.create { observer in
      let task = Task.detached(priority: priority) {
        do { observer(.success(try await work())) } catch { observer(.error(error)) }
      }
      return Disposables.create { task.cancel() }
    }
  }
}

/// Resumes a continuation with whichever result comes first.
private final class Awaiter<Element: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Element, any Error>?
    var cancelled = false
  }

  // Guards the continuation, which whoever comes first takes out (stream or cancelling task) and resumes outside.
  private let state = Locked(State())
  private let subscription = SingleAssignmentDisposable()

  func await(_ continuation: CheckedContinuation<Element, any Error>, subscribe: () -> any Disposable) {
    let cancelled = state.withLock { state in
      if !state.cancelled { state.continuation = continuation }
      return state.cancelled
    }
    if cancelled {
      continuation.resume(throwing: CancellationError())
    } else {
      subscription.setDisposable(subscribe())
    }
  }

  func resume(_ result: Result<Element, any Error>) {
    state.withLock { $0.continuation.take() }?.resume(with: result)
  }

  func cancel() {
    state.withLock { $0.cancelled = true }
    resume(.failure(CancellationError()))
    subscription.dispose()
  }
}
