/// Holds one disposable at a time: setting another disposes the one before, outside the lock (law 10).
public final class SerialDisposable: Cancelable {
  private struct State {
    var disposed = false
    var current: (any Disposable)?
  }

  // Guards what is held; it is taken out and disposed outside.
  private let state = Locked(State())

  /// Holds nothing yet.
  public init() {}

  /// Whether it has been disposed.
  public var isDisposed: Bool { state.withLock { $0.disposed } }

  /// The disposable held; assigning disposes the former one, and the new one at once if this is already disposed.
  public var disposable: any Disposable {
    get { state.withLock { $0.current } ?? Disposables.create() }
    set {
      let old: (any Disposable)? = state.withLock { state in
        if state.disposed { return newValue }
        let old = state.current
        state.current = newValue
        return old
      }
      old?.dispose()
    }
  }

  /// Disposes what is held, and whatever is assigned later.
  public func dispose() {
    let held = state.withLock { state in
      state.disposed = true
      return state.current.take()
    }
    held?.dispose()
  }
}
