/// A disposable whose content can be replaced; replacing it disposes the previous content outside the lock (contract,
/// law 10).
public final class SerialDisposable: Cancelable {
  private struct State {
    var disposed = false
    var current: (any Disposable)?
  }

  // Guards the content; it is taken out and disposed outside the lock.
  private let state = Locked(State())

  /// Creates a disposable without content.
  public init() {}

  /// Whether this disposable has been disposed.
  public var isDisposed: Bool { state.withLock { $0.disposed } }

  /// The current content. Setting it disposes the previous content. After `dispose()`, new content is disposed
  /// immediately.
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

  /// Disposes the content. Content that is set later is disposed immediately.
  public func dispose() {
    let held = state.withLock { state in
      state.disposed = true
      return state.current.take()
    }
    held?.dispose()
  }
}
