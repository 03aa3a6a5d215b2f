/// A disposable whose content is set once, later; content that is set after the disposal is disposed immediately
/// (contract, law 9).
public final class SingleAssignmentDisposable: Cancelable {
  private enum State {
    case empty
    case set(any Disposable)
    case disposed(wasSet: Bool)
  }

  // Guards the content; it is taken out and disposed outside the lock.
  private let state = Locked(State.empty)

  /// Creates a disposable without content.
  public init() {}

  /// Whether this disposable has been disposed.
  public var isDisposed: Bool {
    state.withLock { if case .disposed = $0 { true } else { false } }
  }

  /// Sets the content. Setting it a second time is a programming error and traps (contract, law 10).
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
        preconditionFailure(
          "SingleAssignmentDisposable was set a second time; use SerialDisposable to replace its content")
      }
    }
    if late { disposable.dispose() }
  }

  /// Disposes the content. Content that is set later is disposed immediately.
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
