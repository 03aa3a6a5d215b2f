/// Values by key, whose costs add up to at most a limit: what was not used for the longest goes first.
///
/// Every step takes constant time: the values stand in a ring of links, the one used last at its head.
struct LeastRecentlyUsed<Key: Hashable, Value> {
  private struct Node {
    var key: Key
    var value: Value
    var cost: Int
    var newer: Int
    var older: Int
  }

  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var places: [Key: Int] = [:]
  private var newest = -1
  private var oldest = -1

  /// The most that the costs may add up to.
  let limit: Int
  /// What the costs add up to.
  private(set) var cost = 0

  init(limit: Int) { self.limit = limit }

  /// How many values there are.
  var count: Int { places.count }
  /// The keys, in no order.
  var keys: [Key] { Array(places.keys) }

  /// The value, which is the newest from now on.
  mutating func value(for key: Key) -> Value? {
    guard let place = places[key] else { return nil }
    if newest != place {
      unlink(place)
      link(place)
    }
    return nodes[place]?.value
  }

  /// Whether there is a value; its age stays.
  func contains(_ key: Key) -> Bool { places[key] != nil }

  /// Keeps `value` as the newest, in place of the one of that key; what is dearer than the limit is not kept at all.
  ///
  /// - Returns: what had to go, the oldest first, the value's own predecessor not among it.
  mutating func insert(_ value: Value, for key: Key, cost: Int) -> [(key: Key, value: Value)] {
    _ = remove(key)
    guard cost <= limit else { return [(key, value)] }
    let node = Node(key: key, value: value, cost: cost, newer: -1, older: -1)
    let place = free.popLast() ?? nodes.count
    if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
    places[key] = place
    self.cost += cost
    link(place)
    var gone: [(key: Key, value: Value)] = []
    while self.cost > limit, let last = nodes[oldest] {
      gone.append((last.key, last.value))
      _ = remove(last.key)
    }
    return gone
  }

  /// Forgets the value, and gives it.
  mutating func remove(_ key: Key) -> Value? {
    guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
    unlink(place)
    nodes[place] = nil
    free.append(place)
    cost -= node.cost
    return node.value
  }

  /// Forgets the values that `isGone` is true for, and gives them.
  mutating func remove(where isGone: (Value) -> Bool) -> [(key: Key, value: Value)] {
    let gone = nodes.compactMap { node in node.flatMap { isGone($0.value) ? (key: $0.key, value: $0.value) : nil } }
    for (key, _) in gone { _ = remove(key) }
    return gone
  }

  private mutating func link(_ place: Int) {
    nodes[place]?.newer = -1
    nodes[place]?.older = newest
    if newest >= 0 { nodes[newest]?.newer = place }
    newest = place
    if oldest < 0 { oldest = place }
  }

  private mutating func unlink(_ place: Int) {
    guard let node = nodes[place] else { return }
    if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
    if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
  }
}
