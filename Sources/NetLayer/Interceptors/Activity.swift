import Streams
import Synchronization

/// Counts the requests in flight: one atomic step for each, as long as nobody watches.
final class Activity: Sendable {
  private let current = Atomic<Int>(0)
  private let changed = PublishSubject<Void>()

  /// The count, at once and after each change.
  ///
  /// Signals are delivered one at a time and each reads the count anew, so none can be overtaken by an older one; the first
  /// comes behind the subscription, so no change is missed.
  var count: Observable<Int> {
    Observable.merge(changed.asObservable(), .just(()))
      .map { [self] in current.load(ordering: .acquiring) }
      .distinctUntilChanged()
  }

  /// Counts one more until what it returns is disposed, any number of times.
  func begin() -> any Disposable {
    add(1)
    return Disposables.create { [self] in add(-1) }
  }

  private func add(_ change: Int) {
    current.add(change, ordering: .acquiringAndReleasing)
    if changed.hasObservers { changed.onNext(()) }
  }
}
