extension ResponseCache {
  /// The entries in memory, and the bookkeeping for the files.
  struct Memory {
    var entries: LeastRecentlyUsed<String, CacheEntry>
    /// The number of changes. A lookup on disk does not overwrite a later change.
    var changes: UInt64 = 0
    /// The count of changes at the last removal of each key and tag. Earlier requests are not stored.
    var removals = LeastRecentlyUsed<String, UInt64>(limit: 1000)
    /// The same count for all keys and tags that are not in `removals`.
    var removedBefore: UInt64 = 0
    var hits = 0
    /// The number of bytes that wait to be written.
    var waiting = 0
    /// The keys that are being revalidated in the background.
    var refreshing: Set<String> = []
    var reported: Set<String> = []
  }
}

extension ResponseCache.Memory {
  /// The maximum number of waiting bytes, so that a slow disk does not fill the memory.
  private static let mostWaiting = 8 << 20

  /// Returns the count of changes when one of `names`, keys or tags, was last removed.
  mutating func lastRemoval(of names: [String]) -> UInt64 {
    names.reduce(removedBefore) { max($0, removals.value(for: $1) ?? 0) }
  }

  mutating func noteRemoval(of name: String) {
    changes += 1
    for (_, count) in removals.insert(changes, for: name, cost: 1) { removedBefore = max(removedBefore, count) }
  }

  /// Reserves bytes that wait to be written; returns `false` if there are too many.
  mutating func reserve(_ cost: Int) -> Bool {
    guard waiting + cost <= Self.mostWaiting || waiting == 0 else { return false }
    waiting += cost
    return true
  }
}
