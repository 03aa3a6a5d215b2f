import Synchronization

/// Disposes its members together; members that come later are disposed at once, none under its lock (law 10).
public final class CompositeDisposable: Cancelable {
  /// Names a member, so that it can leave the composite when it has finished.
  public struct Key: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct State {
    var disposed = false
    var next: UInt64 = 0
    // A few members live in a plain array; it is scanned on removal, which beats hashing up to some dozens.
    var members: [(id: UInt64, disposable: any Disposable)] = []
  }

  private let state: Mutex<State>

  /// A composite of `members`.
  public init(_ members: [any Disposable] = []) {
    var initial = State()
    for member in members {
      initial.members.append((initial.next, member))
      initial.next += 1
    }
    state = Mutex(initial)
  }

  /// Whether it has been disposed.
  public var isDisposed: Bool { state.withLock { $0.disposed } }

  /// Adds a member; disposes it at once when the composite already is.
  ///
  /// - Returns: the key for `remove(for:)`, or `nil` when it was disposed at once.
  @discardableResult
  public func insert(_ member: any Disposable) -> Key? {
    let key: Key? = state.withLock { state in
      guard !state.disposed else { return nil }
      let id = state.next
      state.next += 1
      state.members.append((id, member))
      return Key(id: id)
    }
    if key == nil { member.dispose() }
    return key
  }

  /// Takes the member out and disposes it; does nothing when it is gone.
  public func remove(for key: Key) {
    let member: (any Disposable)? = state.withLock { state in
      guard let index = state.members.lastIndex(where: { $0.id == key.id }) else { return nil }
      return state.members.remove(at: index).disposable
    }
    member?.dispose()
  }

  /// The number of members.
  public var count: Int { state.withLock { $0.members.count } }

  /// Disposes every member, in the order of insertion, on the calling thread.
  public func dispose() {
    let members = state.withLock { state in
      state.disposed = true
      let taken = state.members
      state.members = []
      return taken
    }
    for member in members { member.disposable.dispose() }
  }
}
