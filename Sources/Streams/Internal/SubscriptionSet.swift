/// The inner subscriptions of one operator: joining and leaving cost the same however many there are.
@usableFromInline
final class SubscriptionSet: Disposable {
  private struct State {
    var disposed = false
    var slots: [Subscription?] = []
    var free: [Int] = []
  }

  // Guards the members and the free slots; members are disposed and released outside.
  private let state = Locked(State())

  @usableFromInline init() {}

  /// Adds `member`, or disposes it at once when the set is disposed; returns its slot for `remove`.
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

  /// Forgets the member in `slot`, once.
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
