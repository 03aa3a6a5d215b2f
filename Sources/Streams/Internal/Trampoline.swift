import Synchronization

/// A loop that runs a step repeatedly instead of recursively, so that a million synchronous rounds need one stack frame
/// (contract, law 27).
struct Trampoline: ~Copyable, Sendable {
  // The number of requested rounds; the thread that increments it from 0 to 1 runs them all.
  private let rounds = Atomic<Int>(0)

  /// Runs `step` immediately. A call from inside a step, or from another thread meanwhile, runs after that step.
  func bounce(_ step: () -> Void) {
    guard rounds.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
    repeat { step() } while rounds.subtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }
}
