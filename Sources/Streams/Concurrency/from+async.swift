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
