/// A dictionary whose total cost has a limit; the least recently used values are evicted first. Every operation takes
/// constant time: the values form a linked ring with the most recently used value at its head.
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

  let limit: Int
  private(set) var cost = 0

  init(limit: Int) { self.limit = limit }

  var count: Int { places.count }
  var keys: [Key] { Array(places.keys) }

  /// Returns the value and marks it as the most recently used.
  mutating func value(for key: Key) -> Value? {
    guard let place = places[key] else { return nil }
    if newest != place {
      unlink(place)
      link(place)
    }
    return nodes[place]?.value
  }

  func contains(_ key: Key) -> Bool { places[key] != nil }

  /// Stores `value`, unless its cost exceeds the limit. Returns the evicted values, oldest first, without a replaced
  /// one.
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

  mutating func remove(_ key: Key) -> Value? {
    guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
    unlink(place)
    nodes[place] = nil
    free.append(place)
    cost -= node.cost
    return node.value
  }

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
