/// The observers of a subject and its terminal event; the array is copied on write, so a snapshot costs one reference.
@usableFromInline
struct Roster<Member> {
  // In ascending order of IDs, for binary search.
  @usableFromInline var members: [(id: UInt64, value: Member)] = []
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
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < members.count, members[low].id == id else { return nil }
    return members.remove(at: low).value
  }

  /// Records the first terminal event and returns the members that must receive it.
  mutating func end(_ error: (any Error)?) -> [(id: UInt64, value: Member)] {
    guard ended == nil else { return [] }
    ended = .some(error)
    let notified = members
    members = []
    return notified
  }
}
