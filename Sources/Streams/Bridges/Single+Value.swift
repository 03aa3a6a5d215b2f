extension Single {
  /// The element of this single; reading it subscribes, and resumes exactly once (contract, law 30).
  ///
  /// - Throws: The error of the single, or `CancellationError` when the task is cancelled, which disposes the
  ///   subscription.
  @inlinable
  public var value: Element {
    get async throws {
      let awaiter = Awaiter<Element>()
      return try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { continuation in
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
  /// Waits for completion; reading it subscribes, and resumes exactly once (contract, law 30).
  ///
  /// - Throws: The error of the work, or `CancellationError` when the task is cancelled, which disposes the
  ///   subscription.
  public var value: Void {
    get async throws {
      try await Single(trusted: observable.map { (_: Never) -> Void in }.concat(Observable<Void>.just(()))).value
    }
  }
}

extension Single {
  /// Creates a single with the result of `work`, which runs in its own task for each subscription.
  ///
  /// Disposing cancels the task. If `work` itself cancels the task, the single fails with the error that `work` throws.
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

extension Single {
  /// The same as `from`, but `work` starts on the subscribing thread before the subscription returns, where the system
  /// can do that. Work that waits for nothing has then ended.
  package static func starting(_ work: @escaping @Sendable () async throws -> Element) -> Single<Element> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Single.create { observer in
        let task = Task.immediateDetached {
          do { observer(.success(try await work())) } catch { observer(.error(error)) }
        }
        return Disposables.create { task.cancel() }
      }
    }
    return from(work)
  }
}

/// An object that resumes a continuation with the first result that it receives.
///
/// The lock takes the continuation out, so it is resumed once without the check of a checked continuation, which takes an
/// allocation for each awaited single.
@usableFromInline
final class Awaiter<Element: Sendable>: @unchecked Sendable {  // safe: the lock guards the continuation
  // Guards the continuation, too; whichever of the stream and the canceller is first takes it out and resumes it outside
  // the lock. In a generic class, a lock of a generic value would look up types at run time when it is released.
  @usableFromInline let isCancelled = Locked(false)
  @usableFromInline var continuation: UnsafeContinuation<Element, any Error>?
  @usableFromInline let subscription = SingleAssignmentDisposable()

  @inlinable init() {}

  @inlinable
  func await(_ continuation: UnsafeContinuation<Element, any Error>, subscribe: () -> any Disposable) {
    let isCancelled = isCancelled.withLock { isCancelled in
      if !isCancelled { self.continuation = continuation }
      return isCancelled
    }
    if isCancelled {
      continuation.resume(throwing: CancellationError())
    } else {
      subscription.setDisposable(subscribe())
    }
  }

  @inlinable
  func resume(_ result: @autoclosure () -> Result<Element, any Error>) {
    isCancelled.withLock { _ in continuation.take() }?.resume(with: result())
  }

  @inlinable
  func cancel() {
    isCancelled.withLock { $0 = true }
    resume(.failure(CancellationError()))
    subscription.dispose()
  }
}
