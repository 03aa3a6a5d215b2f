/// Holds the scheduled item that arms the next one of its kind.
///
/// An item may run before `schedule` has returned it, on this thread or another, and arm its successor: the assignments
/// go through a trampoline, so that the older item never replaces the newer, and items that run inline need no stack
/// (law 27).
final class Turn: Disposable {
  private let held = SerialDisposable()
  private let trampoline = Trampoline()

  /// Holds what `schedule` returns. A call from inside or beside a running one is made by that, with its own closure: all
  /// calls must schedule the same.
  func arm(_ schedule: () -> any Disposable) {
    trampoline.bounce { held.disposable = schedule() }
  }

  func dispose() { held.dispose() }
}

extension SerialDisposable {
  /// Holds what `schedule` returns, in a slot that is in place before the item can run and arm another.
  func arm(_ schedule: () -> any Disposable) {
    let slot = SingleAssignmentDisposable()
    disposable = slot
    slot.setDisposable(schedule())
  }
}
