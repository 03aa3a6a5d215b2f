@usableFromInline
struct Roster<Member> {
  // In ascending order of IDs, for binary search. Of many members, one that has left keeps its place, until half of the
  // places are empty: a removal would move all later members.
  @usableFromInline var members: [(id: UInt64, value: Member?)] = []
  /// The number of empty places.
  @usableFromInline var gaps = 0
  @usableFromInline var nextID: UInt64 = 0
  @usableFromInline var ended: (any Error)??

  @inlinable init() {}

  /// Adds `member` and returns its ID for `leave`, or `nil` after the terminal event.
  @inlinable
  mutating func join(_ member: Member) -> UInt64? {
    guard ended == nil else { return nil }
    nextID += 1
    members.append((nextID, member))
    return nextID
  }

  @inlinable
  mutating func leave(_ id: UInt64) -> Member? {
    guard let place = members.index(of: id, by: { $0.id }) else { return nil }
    if gaps == 0, members.count <= 32 { return members.remove(at: place).value }
    guard let member = members[place].value else { return nil }
    members[place].value = nil
    gaps += 1
    if gaps * 2 > members.count {
      members.removeAll { $0.value == nil }
      gaps = 0
    }
    return member
  }

  @inlinable
  var isEmpty: Bool { members.count == gaps }

  /// The members, in order.
  @inlinable
  var present: [(id: UInt64, value: Member)] {
    var present: [(id: UInt64, value: Member)] = []
    present.reserveCapacity(members.count - gaps)
    for case (let id, let value?) in members { present.append((id, value)) }
    return present
  }

  /// Records the first terminal event and returns the members that must receive it.
  mutating func end(_ error: (any Error)?) -> [(id: UInt64, value: Member)] {
    guard ended == nil else { return [] }
    ended = .some(error)
    let notified = present
    (members, gaps) = ([], 0)
    return notified
  }
}
