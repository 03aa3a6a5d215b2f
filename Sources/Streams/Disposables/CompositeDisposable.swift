/// A disposable that disposes its members together.
///
/// Members inserted after the disposal are disposed immediately. No member is disposed while the lock is held
/// (contract, law 10).
public final class CompositeDisposable: Cancelable {
  /// A key that identifies a member, to remove it when it has finished.
  public struct Key: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct State {
    var disposed = false
    var next: UInt64 = 0
    // In ascending order of IDs, for binary search. Removed members are `nil` until they make up half of the array.
    var members: [(id: UInt64, disposable: (any Disposable)?)] = []
    var count = 0

    mutating func take(_ id: UInt64) -> (any Disposable)? {
      guard let index = index(of: id), let member = members[index].disposable.take() else { return nil }
      count -= 1
      if members.count > 2 * count + 8 { members.removeAll { $0.disposable == nil } }
      return member
    }

    func index(of id: UInt64) -> Int? { members.index(of: id) { $0.id } }
  }

  // Guards the members; they are taken out and disposed outside the lock.
  private let state = Locked(State())

  /// Creates a composite of `members`.
  public init(_ members: [any Disposable] = []) {
    for member in members { insert(member) }
  }

  /// Creates a composite of `members`.
  public convenience init(_ members: any Disposable...) { self.init(members) }

  /// Whether the composite has been disposed.
  public var isDisposed: Bool { state.withLock { $0.disposed } }

  /// Adds a member, or disposes it immediately if the composite has been disposed.
  ///
  /// A subscription that terminates is removed automatically.
  ///
  /// - Returns: The key for `remove(for:)`, or `nil` if the member was disposed immediately.
  @discardableResult
  public func insert(_ member: any Disposable) -> Key? {
    let key: Key? = state.withLock { state in
      guard !state.disposed else { return nil }
      let id = state.next
      state.next += 1
      state.members.append((id, member))
      state.count += 1
      return Key(id: id)
    }
    guard let key else {
      member.dispose()
      return nil
    }
    if let subscription = member as? Subscription {
      subscription.own(Disposables.create { [weak self] in self?.remove(for: key) })
    }
    return key
  }

  /// Removes and disposes the member; does nothing if it has been removed already.
  public func remove(for key: Key) {
    let member = state.withLock { $0.take(key.id) }
    member?.dispose()
  }

  /// The number of members.
  public var count: Int { state.withLock { $0.count } }

  /// Disposes every member, in the order of insertion, on the calling thread.
  public func dispose() {
    let members = state.withLock { state in
      state.disposed = true
      let taken = state.members
      state.members = []
      state.count = 0
      return taken
    }
    for member in members { member.disposable?.dispose() }
  }
}
