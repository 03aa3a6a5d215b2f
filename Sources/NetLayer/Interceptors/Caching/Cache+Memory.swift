extension Cache {
  /// What is kept in memory, and what is known of the files.
  struct Memory {
    var entries: LeastRecentlyUsed<String, CacheEntry>
    /// Counts what was stored and removed: what was looked for on disk before is not put above it.
    var changes: UInt64 = 0
    /// At which count the keys and tags that were removed last were: what was asked for before is not kept.
    var removals = LeastRecentlyUsed<String, UInt64>(limit: 1000)
    /// The same for all that are not among them.
    var removedBefore: UInt64 = 0
    /// How often something was found.
    var hits = 0
    /// The bytes that wait to be written.
    var waiting = 0
    /// The keys that are being asked for anew in the background.
    var refreshing: Set<String> = []
    /// The problems that were told.
    var told: Set<String> = []
  }
}

extension Cache.Memory {
  /// A disk that is slower than the network must not fill the memory.
  private static let mostWaiting = 8 << 20

  /// At which count of changes one of `names`, keys or tags, was last removed.
  mutating func lastRemoval(of names: [String]) -> UInt64 {
    names.reduce(removedBefore) { max($0, removals.value(for: $1) ?? 0) }
  }

  /// Notes that what has the key or tag `name` is removed now.
  mutating func noteRemoval(of name: String) {
    changes += 1
    for (_, count) in removals.insert(changes, for: name, cost: 1) { removedBefore = max(removedBefore, count) }
  }

  /// Whether so many bytes more may wait to be written; they do from now on.
  mutating func reserve(_ cost: Int) -> Bool {
    guard waiting + cost <= Self.mostWaiting || waiting == 0 else { return false }
    waiting += cost
    return true
  }
}
