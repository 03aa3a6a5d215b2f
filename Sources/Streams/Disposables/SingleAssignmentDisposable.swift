/// Holds one disposable that is set later, once; when it is disposed before, the late one is disposed at once (law 9).
public final class SingleAssignmentDisposable: Cancelable {
  private enum State {
    case empty
    case set(any Disposable)
    case disposed(wasSet: Bool)
  }

  // Guards what is held; it is taken out and disposed outside.
  private let state = Locked(State.empty)

  /// Holds nothing yet.
  public init() {}

  /// Whether it has been disposed.
  public var isDisposed: Bool {
    state.withLock { if case .disposed = $0 { true } else { false } }
  }

  /// Sets the disposable; a second time is a programming error and traps (law 10).
  public func setDisposable(_ disposable: any Disposable) {
    let late = state.withLock { state in
      switch state {
      case .empty:
        state = .set(disposable)
        return false
      case .disposed(wasSet: false):
        state = .disposed(wasSet: true)
        return true
      case .set, .disposed(wasSet: true):
        preconditionFailure("SingleAssignmentDisposable was set a second time; use SerialDisposable to replace")
      }
    }
    if late { disposable.dispose() }
  }

  /// Disposes what is held, or what will be set.
  public func dispose() {
    let held: (any Disposable)? = state.withLock { state in
      switch state {
      case .empty:
        state = .disposed(wasSet: false)
        return nil
      case .set(let disposable):
        state = .disposed(wasSet: true)
        return disposable
      case .disposed:
        return nil
      }
    }
    held?.dispose()
  }
}
