import Streams

/// Counts the requests in flight.
///
/// Changes, not counts, are sent: a subject puts them in order, and adding them up behind it cannot overtake.
final class Activity: Sendable {
  private let changes = PublishSubject<Int>()
  private let current = BehaviorSubject(value: 0)
  private let adding: any Disposable

  init() {
    adding = changes.scan(0) { $0 + $1 }.subscribe(current)
  }

  deinit { adding.dispose() }

  var count: Observable<Int> { current.asObservable() }

  /// Counts one more until what it returns is disposed, any number of times.
  func begin() -> any Disposable {
    changes.onNext(1)
    return Disposables.create { [changes] in changes.onNext(-1) }
  }
}
