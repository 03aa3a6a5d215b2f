/// A holder of a scheduled item that schedules the next one of its kind.
///
/// An item may run before `schedule` has returned it, on this thread or another, and schedule its successor. The
/// assignments pass through a trampoline, so that an older item never replaces a newer one, and items that run inline
/// need no stack (contract, law 27).
final class Turn: Disposable {
  private let held = SerialDisposable()
  private let trampoline = Trampoline()

  /// Holds the item that `schedule` returns.
  ///
  /// A call that arrives during another one is made by that one, with its own closure, so all calls must schedule the
  /// same work.
  func arm(_ schedule: () -> any Disposable) {
    trampoline.bounce { held.disposable = schedule() }
  }

  func dispose() { held.dispose() }
}

extension SerialDisposable {
  /// Holds the item that `schedule` returns, in a slot that exists before the item can run and schedule another.
  func arm(_ schedule: () -> any Disposable) {
    let slot = SingleAssignmentDisposable()
    disposable = slot
    slot.setDisposable(schedule())
  }
}
