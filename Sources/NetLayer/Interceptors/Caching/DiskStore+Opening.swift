import PortableFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskStore {
  /// The directory, opened, locked and swept; `nil` where that is not possible now.
  func opened() -> Directory? {
    if let directory, !directory.isGone { return directory }
    directory = nil
    files = LeastRecentlyUsed(limit: files.limit)
    pending = [:]
    guard let opened = open(), sweep(opened) else { return nil }
    directory = opened
    missed = []
    return opened
  }

  private func open() -> Directory? {
    var creation: Int32?
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      creation = SystemError.code(of: error)
    }
    let directory = Self.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      // That it is not there is no news where it could not be made.
      tellUnusable(errno == ENOENT ? creation ?? errno : errno)
      return nil
    }
    let lock = openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard lock >= 0, fchmod(directory, 0o700) == 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      if lock >= 0, errno == EWOULDBLOCK {
        tell("another cache uses the directory \(path), so answers are kept in memory only; give each a directory")
      } else {
        tellUnusable(errno)
      }
      if lock >= 0 { _ = close(lock) }
      _ = close(directory)
      return nil
    }
    return Directory(descriptor: directory, lock: lock)
  }

  private func tellUnusable(_ reason: Int32) {
    tell(
      "the cache directory \(path) can't be used now, so answers are kept in memory only: "
        + String(cString: strerror(reason)))
  }

  private static func open(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.open(path, flags)
    #elseif canImport(Musl)
      Musl.open(path, flags)
    #else
      Darwin.open(path, flags)
    #endif
  }

  /// Takes stock: what was being written, what is broken, what has expired and what was to be removed is.
  ///
  /// - Returns: whether everything could be looked at; what could not for want of descriptors stays as it is.
  private func sweep(_ directory: Directory) -> Bool {
    let time = now()
    let directory = directory.descriptor
    var found: [(name: String, file: Found)] = []
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      tellUnusable(SystemError.code(of: error) ?? EIO)
      return false
    }
    for name in names {
      if name.hasPrefix(Self.temporaryPrefix) { _ = unlinkat(directory, name, 0) }
      guard name.utf8.count == 64, name.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 102 }) else {
        continue
      }
      let file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      if file < 0, Self.isShortage(errno) {
        tellUnusable(errno)
        return false
      }
      defer { if file >= 0 { _ = close(file) } }
      if file >= 0, let known = look(at: file), known.expiresAt > time,
        let missed, !missed.contains(name), missed.isDisjoint(with: known.tags)
      {
        found.append((name, known))
      } else {
        _ = unlinkat(directory, name, 0)
      }
    }
    for (name, file) in found.sorted(by: { $0.file.used < $1.file.used }) {
      for gone in files.insert(file.tags, for: name, cost: Self.blocks(file.size)) {
        _ = unlinkat(directory, gone.key, 0)
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

  /// What the head of a file says; `nil` where it is broken or does not fit the file's size.
  private func look(at file: Int32) -> Found? {
    var info = stat()
    guard fstat(file, &info) == 0, let size = Int(exactly: info.st_size) else { return nil }
    let fixed = withUnsafeTemporaryAllocation(byteCount: CacheEntry.fixedSize, alignment: 8) { bytes in
      Self.fill(bytes, from: file) ? CacheEntry.FixedPart(UnsafeRawBufferPointer(bytes)) : nil
    }
    guard let fixed, fixed.fileSize == size else { return nil }
    let head = CacheEntry.fixedSize + fixed.headSize
    return withUnsafeTemporaryAllocation(byteCount: head, alignment: 8) { bytes in
      guard Self.fill(bytes, from: file), let tags = fixed.tags(in: UnsafeRawBufferPointer(bytes)) else { return nil }
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
