/// A holder of a scheduled item that schedules its own successor.
///
/// An item may run before `schedule` has returned it, on this thread or another, and schedule its successor. The
/// assignments pass through a trampoline, so that an older item never replaces a newer item, and items that run inline
/// don't grow the stack (contract, law 27).
final class Turn: Disposable {
  private let held = SerialDisposable()
  private let trampoline = Trampoline()

  /// Holds the item that `schedule` returns.
  ///
  /// A call that arrives during another call is made by that call, with that call's closure. All calls must therefore
  /// schedule the same work.
  func arm(_ schedule: () -> any Disposable) {
    trampoline.bounce { held.disposable = schedule() }
  }

  func dispose() { held.dispose() }
}

extension SerialDisposable {
  /// Holds the item that `schedule` returns, in a slot that exists before the item can run and schedule its successor.
  func arm(_ schedule: () -> any Disposable) {
    let slot = SingleAssignmentDisposable()
    disposable = slot
    slot.setDisposable(schedule())
  }
}
