import Streams
import Synchronization

/// A counter of the requests in flight. A request costs one atomic step as long as nobody observes the count.
final class Activity: Sendable {
  /// The number of requests in flight; any thread changes it.
  private let current = Atomic<Int>(0)
  /// The number of observers. Querying the subject instead would cost more than everything else here.
  private let watchers = Atomic<Int>(0)
  private let changed = PublishSubject<Void>()

  /// The count, emitted immediately and after each change. Signals are delivered one at a time, and each reads the
  /// current count, so an older count never overtakes a newer one.
  var count: Observable<Int> {
    // Between the subscription to `changed` and the first reading, a step of `watchers` that changes nothing. A request
    // that reads `watchers` after it also sees the subscription; the count of one that reads before it is seen here.
    let first = Observable<Void>.deferred { [self] in
      watchers.add(0, ordering: .sequentiallyConsistent)
      return .just(())
    }
    return Observable.merge(changed.asObservable(), first)
      .map { [self] in current.load(ordering: .sequentiallyConsistent) }
      .distinctUntilChanged()
      .do(
        onSubscribe: { [self] in watchers.add(1, ordering: .sequentiallyConsistent) },
        onDispose: { [self] in watchers.subtract(1, ordering: .acquiringAndReleasing) })
  }

  func begin() { add(1) }

  func end() { add(-1) }

  private func add(_ change: Int) {
    // Sequentially consistent with the number of observers, so a new observer either reads the change or is notified.
    current.add(change, ordering: .sequentiallyConsistent)
    if watchers.load(ordering: .sequentiallyConsistent) > 0 { changed.onNext(()) }
  }
}
