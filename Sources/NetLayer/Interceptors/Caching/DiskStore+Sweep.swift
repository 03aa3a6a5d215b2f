import PortableFoundation

extension DiskStore {
  /// Lists the files when the store opens, and removes files that are unfinished, corrupt, expired or marked for
  /// removal. If the rest exceeds the limit, it removes the least recently used files, too.
  ///
  /// - Returns: `true` if all files could be checked. Files that could not be opened for lack of descriptors remain.
  func sweep(_ directory: DurableDirectory) -> Bool {
    let time = now()
    var found: [(name: String, file: Found)] = []
    let names: [String]
    do {
      try directory.sweep()
      names = try directory.names()
    } catch {
      reportUnusable(SystemError.code(of: error) ?? EIO)
      return false
    }
    for name in names where Self.isEntry(name) {
      let file = directory.open(name)
      if file < 0, Self.isShortage(errno) {
        reportUnusable(errno)
        return false
      }
      defer { if file >= 0 { _ = close(file) } }
      if file >= 0, let known = look(at: file), known.expiresAt > time,
        let missed, !missed.contains(name), missed.isDisjoint(with: known.tags)
      {
        found.append((name, known))
      } else {
        directory.remove(name)
      }
    }
    for (name, file) in found.sorted(by: { $0.file.used < $1.file.used }) {
      for gone in files.insert(file.tags, for: name, cost: Self.blocks(file.size)) {
        directory.remove(gone.key)
      }
    }
    return true
  }

  private struct Found {
    let size: Int
    let used: Double
    let expiresAt: Double
    let tags: [String]
  }

  private func look(at file: Int32) -> Found? {
    var info = stat()
    guard fstat(file, &info) == 0, let size = Int(exactly: info.st_size) else { return nil }
    let fixed = withUnsafeTemporaryAllocation(byteCount: CacheEntry.fixedSize, alignment: 8) { bytes in
      DurableDirectory.fill(bytes, from: file) ? CacheEntry.FixedPart(UnsafeRawBufferPointer(bytes)) : nil
    }
    guard let fixed, fixed.fileSize == size else { return nil }
    let head = CacheEntry.fixedSize + Int(fixed.headSize)
    return withUnsafeTemporaryAllocation(byteCount: head, alignment: 8) { bytes in
      guard DurableDirectory.fill(bytes, from: file), let tags = fixed.tags(in: UnsafeRawBufferPointer(bytes)) else {
        return nil
      }
      #if canImport(Darwin)
        let used = info.st_mtimespec
      #else
        let used = info.st_mtim
      #endif
      return Found(
        size: size, used: Double(used.tv_sec) + Double(used.tv_nsec) / 1e9, expiresAt: fixed.expiresAt, tags: tags)
    }
  }
}
