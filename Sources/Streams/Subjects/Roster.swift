/// The observers of a subject and its terminal event.
///
/// A member that leaves is replaced by a vacant place. The places are removed when they are more than half, so joining and
/// leaving take constant time on average, whatever the number of members.
@usableFromInline
struct Roster<Member> {
  // In ascending order of IDs, for binary search.
  @usableFromInline var places: [(id: UInt64, value: Member?)] = []
  @usableFromInline var vacant = 0
  @usableFromInline var nextID: UInt64 = 0
  @usableFromInline var ended: (any Error)??

  @inlinable init() {}

  @inlinable var isEmpty: Bool { places.count == vacant }

  /// The members, in the order in which they joined.
  @inlinable var members: [Member] {
    var members: [Member] = []
    members.reserveCapacity(places.count - vacant)
    for place in places { if let member = place.value { members.append(member) } }
    return members
  }

  /// Adds `member` and returns its ID for `leave`, or `nil` after the terminal event.
  @inlinable
  mutating func join(_ member: Member) -> UInt64? {
    guard ended == nil else { return nil }
    nextID += 1
    places.append((nextID, member))
    return nextID
  }

  @inlinable
  mutating func leave(_ id: UInt64) -> Member? {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < places.count, places[low].id == id, let member = places[low].value else { return nil }
    if low == places.count - 1 {
      places.removeLast()
    } else {
      places[low].value = nil
      vacant += 1
    }
    if vacant * 2 > places.count {
      places.removeAll { $0.value == nil }
      vacant = 0
    }
    return member
  }

  /// Records the first terminal event and returns the members that must receive it.
  mutating func end(_ error: (any Error)?) -> [Member] {
    guard ended == nil else { return [] }
    ended = .some(error)
    let notified = members
    places = []
    vacant = 0
    return notified
  }
}
