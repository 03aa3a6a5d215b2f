/// The inner subscriptions of one operator; adding and removing take constant time.
@usableFromInline
final class SubscriptionSet: Disposable {
  private struct State {
    var disposed = false
    var slots: [Subscription?] = []
    var free: [Int] = []
  }

  // Guards the members and the free slots; members are disposed and released outside the lock.
  private let state = Locked(State())

  @usableFromInline init() {}

  /// Adds `member` and returns its slot for `remove`, or disposes it immediately if the set has been disposed.
  @usableFromInline
  func insert(_ member: Subscription) -> Int {
    let slot: Int? = state.withLock { state in
      guard !state.disposed else { return nil }
      guard let slot = state.free.popLast() else {
        state.slots.append(member)
        return state.slots.count - 1
      }
      state.slots[slot] = member
      return slot
    }
    guard let slot else {
      member.dispose()
      return -1
    }
    return slot
  }

  /// Removes the member in `slot` without disposing it; must be called at most once per slot.
  @usableFromInline
  func remove(_ slot: Int) {
    let removed: Subscription? = state.withLock { state in
      guard slot >= 0, !state.disposed else { return nil }
      state.free.append(slot)
      return state.slots[slot].take()
    }
    withExtendedLifetime(removed) {}  // released outside the lock
  }

  @usableFromInline
  func dispose() {
    let members = state.withLock { state in
      let members = state.slots
      state = State(disposed: true)
      return members
    }
    for member in members { member?.dispose() }
  }
}
