import PortableFoundation

extension ResponseCache {
  /// Returns `found`, unless it has expired.
  func live(_ found: Match) -> Match? {
    if found.entry.expiresAt > now { return (found.entry, found.key) }
    remove(found.key)
    return nil
  }

  /// Returns the entry in memory or on disk.
  func read(_ disk: DiskStore, _ key: String, promoting changes: UInt64?) -> CacheEntry? {
    if let entry = memory.withLock({ $0.entries.value(for: key) }) { return entry }
    guard let name = DiskStore.Name(key: key), let entry = disk.read(name) else { return nil }
    if let changes { insert(entry, key) { $0.changes == changes } }
    return entry
  }

  func put(_ entry: CacheEntry, _ key: String, of base: String, since mark: UInt64) {
    let cost = entry.cost
    memory.release { memory -> [(key: String, value: CacheEntry)] in
      guard memory.lastRemoval(of: [base] + entry.tags) <= mark else { return [] }
      memory.changes += 1
      if disk != nil, let name = DiskStore.Name(key: key) {
        if memory.reserve(cost) {
          onDisk { self.write(entry, name, to: $0) }
        } else {
          onDisk { $0.remove(name) }
        }
      }
      return memory.entries.insert(entry, for: key, cost: cost)
    }
  }

  /// Writes the file. Only the bookkeeping runs on the lookup queue, so lookups don't wait for the disk.
  private func write(_ entry: CacheEntry, _ name: DiskStore.Name, to disk: DiskStore) {
    guard let file = disk.begin(entry, name) else { return release(entry.cost) }
    writing.async { [self] in
      let (saved, size) = file.save()
      queue.async { [self] in
        release(entry.cost)
        guard disk.finish(file, saved, size: size) else { return }
        writing.async { [self] in
          do { try file.directory.sync() } catch { queue.async { disk.fail(name, error) } }
        }
      }
    }
  }

  func release(_ cost: Int) { memory.withLock { $0.waiting -= cost } }

  private func insert(_ entry: CacheEntry, _ key: String, if isWanted: (inout Memory) -> Bool) {
    memory.release { memory -> [(key: String, value: CacheEntry)] in
      guard isWanted(&memory) else { return [] }
      return memory.entries.insert(entry, for: key, cost: entry.cost)
    }
  }
}
