import Synchronization

extension ObservableType {
  /// Mirrors the stream that emits or terminates first; the other stream is disposed immediately (contract, law 16).
  ///
  ///     first:  ---a--b-|
  ///     second: -1--2-|
  ///     amb:    -1--2-|
  public func amb<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Element>
  where Second.Element == Element {
    .amb([asObservable(), second.asObservable()])
  }

  /// The same for an `Observable`, so that `.never()` and the like need no type.
  public func amb(_ second: Observable<Element>) -> Observable<Element> { .amb([asObservable(), second]) }
}

extension Observable {
  /// Mirrors the stream that emits or terminates first; the other streams are disposed immediately (contract, law 16).
  ///
  /// Without sources, the stream never terminates.
  public static func amb<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    let sources = Array(sources)
    return Observable(push: { subscription, next in
      let race = Amb(sources.count)
      for index in sources.indices {
        let scope = HandlerScope(above: subscription) { error in
          if race.wins(index) { subscription.finish(error) }
        }
        race.enter(scope, index)
        subscription.own(scope)
      }
      for (index, source) in sources.enumerated() {
        guard !race.isDecided, let scope = race.runner(index) else { return }
        source.run(scope) { if race.wins(index) { subscription.deliver($0, to: next) } }
      }
    })
  }
}

private final class Amb: Sendable {
  // The index of the winner, or -1 before the first event.
  private let winner = Atomic<Int>(-1)
  // Guards the sources that may still win; the winner takes out the others and disposes them outside the lock.
  private let runners: Locked<[Subscription?]>

  init(_ count: Int) { runners = Locked(Array(repeating: nil, count: count)) }

  var isDecided: Bool { winner.load(ordering: .acquiring) >= 0 }

  func enter(_ runner: Subscription, _ index: Int) { runners.withLock { $0[index] = runner } }

  func runner(_ index: Int) -> Subscription? { runners.withLock { $0[index] } }

  func wins(_ index: Int) -> Bool {
    let (first, current) = winner.compareExchange(expected: -1, desired: index, ordering: .acquiringAndReleasing)
    guard first else { return current == index }
    let losers = runners.withLock { runners in
      let losers = runners.indices.filter { $0 != index }.compactMap { runners[$0] }
      runners = runners.map { _ in nil }
      return losers
    }
    for loser in losers { loser.dispose() }
    return true
  }
}
