import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskStore {
  /// The directory's descriptor, once it has been opened, locked and swept.
  func opened() -> Int32? {
    switch state {
    case .open(let directory, _): return directory
    case .unavailable: return nil
    case .unopened:
      guard let (directory, lock) = open() else { return nil }
      state = .open(directory: directory, lock: lock)
      sweep(directory)
      missed = []
      return directory
    }
  }

  private func open() -> (directory: Int32, lock: Int32)? {
    try? FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let directory = Self.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      state = .unavailable
      report("the cache directory \(path) can't be used, so answers are kept in memory only: \(reason)")
      return nil
    }
    let lock = openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard fchmod(directory, 0o700) == 0, lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      if lock >= 0, errno == EWOULDBLOCK {
        if !hasToldOfOther {
          report("another cache uses the directory \(path), so answers are kept in memory only; give each a directory")
        }
        hasToldOfOther = true
      } else {
        state = .unavailable
        report("the cache directory \(path) can't be used, so answers are kept in memory only: \(reason)")
      }
      if lock >= 0 { _ = close(lock) }
      _ = close(directory)
      return nil
    }
    return (directory, lock)
  }

  private var reason: String { String(cString: strerror(errno)) }

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
  private func sweep(_ directory: Int32) {
    let time = now()
    var found: [(name: String, size: Int, used: Double)] = []
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      if name.hasPrefix(Self.temporaryPrefix) { _ = unlinkat(directory, name, 0) }
      guard name.utf8.count == 64, name.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 102 }) else {
        continue
      }
      if missed?.contains(name) == false, let file = look(at: name, in: directory), file.expiresAt > time {
        found.append((name, file.size, file.used))
      } else {
        _ = unlinkat(directory, name, 0)
      }
    }
    for file in found.sorted(by: { $0.used < $1.used }) {
      for gone in files.insert((), for: file.name, cost: Self.blocks(file.size)) {
        _ = unlinkat(directory, gone.key, 0)
      }
    }
  }

  /// What the first bytes of a file say; `nil` where they do not fit its size.
  private func look(at name: String, in directory: Int32) -> (size: Int, used: Double, expiresAt: Double)? {
    let file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { _ = close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: CacheEntry.fixedSize, alignment: 8) { bytes in
      guard Self.fill(bytes, from: file), let fixed = CacheEntry.FixedPart(UnsafeRawBufferPointer(bytes)),
        fixed.fileSize == Int(info.st_size)
      else { return nil }
      #if canImport(Darwin)
        let used = info.st_mtimespec
      #else
        let used = info.st_mtim
      #endif
      return (fixed.fileSize, Double(used.tv_sec) + Double(used.tv_nsec) / 1e9, fixed.expiresAt)
    }
  }
}
