import Streams
import Synchronization

/// Counts the requests in flight: one atomic step for each, as long as nobody watches.
final class Activity: Sendable {
  /// Each attempt counts itself in and out, on any thread.
  private let current = Atomic<Int>(0)
  /// How many watch: asking the subject would take longer than the rest.
  private let watchers = Atomic<Int>(0)
  private let changed = PublishSubject<Void>()

  /// The count, at once and after each change.
  ///
  /// Signals are delivered one at a time and each reads the count anew, so none can be overtaken by an older one; the first
  /// comes behind the subscription, so no change is missed.
  var count: Observable<Int> {
    Observable.merge(changed.asObservable(), .just(()))
      .map { [self] in current.load(ordering: .sequentiallyConsistent) }
      .distinctUntilChanged()
      .do(
        onSubscribe: { [self] in watchers.add(1, ordering: .sequentiallyConsistent) },
        onDispose: { [self] in watchers.subtract(1, ordering: .acquiringAndReleasing) })
  }

  /// Counts one more.
  func begin() { add(1) }

  /// Counts one less.
  func end() { add(-1) }

  private func add(_ change: Int) {
    // In one order with the watchers' own count, so that one who comes meanwhile sees the change or is told.
    current.add(change, ordering: .sequentiallyConsistent)
    if watchers.load(ordering: .sequentiallyConsistent) > 0 { changed.onNext(()) }
  }
}
