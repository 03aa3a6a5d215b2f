import Streams

/// A source that counts up while more elements are requested.
final class Tap: Sendable {
  // Guards the number of elements, and whether the source has been disposed.
  private let state = Locked((count: 0, isLeft: true))

  var count: Int { state.withLock { $0.count } }
  var isLeft: Bool { state.withLock { $0.isLeft } }

  func reset() { state.withLock { $0 = (0, true) } }

  var elements: Observable<Int> { elements(burst: 1) }

  /// Returns a stream that emits `burst` elements per step, like the lines in a chunk of a body.
  func elements(burst: Int) -> Observable<Int> {
    Observable(push: { [self] subscription, next in
      state.withLock { $0.isLeft = false }
      subscription.own(Disposables.create { self.state.withLock { $0.isLeft = true } })
      run(burst, subscription, next)
    })
  }

  private func run(_ burst: Int, _ subscription: Subscription, _ next: @escaping Observable<Int>.Next) {
    while !subscription.isStopped, subscription.takesMore(orCall: { [self] in run(burst, subscription, next) }) {
      for _ in 0..<burst where !subscription.isStopped {
        let element = state.withLock { state in
          state.count += 1
          return state.count
        }
        subscription.deliver(element, to: next)
      }
    }
  }
}
