/// The factories of disposables, spelled as in RxSwift.
public enum Disposables {
  /// A disposable that does nothing.
  public static func create() -> any Disposable { NopDisposable.shared }

  /// A disposable that runs `action` once, on the thread of the first `dispose()`, and releases it then (law 8).
  public static func create(with action: @escaping @Sendable () -> Void) -> any Cancelable {
    AnonymousDisposable(action)
  }

  /// A disposable that disposes all `members`, in order.
  public static func create(_ members: any Disposable...) -> any Cancelable {
    CompositeDisposable(members)
  }
}

/// Does nothing when disposed.
final class NopDisposable: Disposable {
  static let shared = NopDisposable()
  func dispose() {}
}

/// Runs an action once and lets go of it.
final class AnonymousDisposable: Cancelable {
  // Guards the closure, which the first `dispose()` takes out and runs outside.
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(action) }

  var isDisposed: Bool { action.withLock { $0 == nil } }

  func dispose() {
    let run = action.withLock { stored in
      let taken = stored
      stored = nil
      return taken
    }
    run?()
  }
}
