import Synchronization

/// Runs a step again and again instead of inside itself, so that a million synchronous rounds need one stack frame
/// (law 27).
struct Trampoline: ~Copyable, Sendable {
  // The rounds asked for; whoever takes it from 0 to 1 runs them all.
  private let rounds = Atomic<Int>(0)

  /// Runs `step` now, or once more after the running one when called from inside it or from another thread meanwhile.
  func bounce(_ step: () -> Void) {
    guard rounds.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
    repeat { step() } while rounds.subtract(1, ordering: .acquiringAndReleasing).newValue != 0
  }
}
