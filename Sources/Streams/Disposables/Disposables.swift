/// A namespace for functions that create disposables, with the names of RxSwift.
public enum Disposables {
  /// Returns a disposable that does nothing.
  public static func create() -> any Disposable { NopDisposable.shared }

  /// Returns a disposable that runs `action` once, on the thread of the first `dispose()`, and then releases it
  /// (contract, law 8).
  public static func create(with action: @escaping @Sendable () -> Void) -> any Cancelable {
    AnonymousDisposable(action)
  }

  /// Returns a disposable that disposes all `members`, in order.
  public static func create(_ members: any Disposable...) -> any Cancelable {
    CompositeDisposable(members)
  }
}

final class NopDisposable: Disposable {
  static let shared = NopDisposable()
  func dispose() {}
}

/// A disposable that runs a closure once and then releases it.
final class AnonymousDisposable: Cancelable {
  // Guards the closure; the first `dispose()` takes it out and runs it outside the lock.
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(action) }

  var isDisposed: Bool { action.withLock { $0 == nil } }

  func dispose() { action.withLock { $0.take() }?() }
}
