import Foundation
import Streams

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Entries as files of one directory: at most `limit` bytes of them, those used last.
///
/// A file appears under its name, the SHA-256 of its key, only when it is whole and on the disk: it is written under
/// another name, synced, and renamed. Opened at first use, by one process at a time. Used on one queue only.
final class DiskStore: @unchecked Sendable {  // safe: one serial queue touches it
  private enum State {
    case unopened
    case open(directory: Int32, lock: Int32)
    /// Only in memory from now on.
    case unavailable
  }

  private let path: String
  private let now: @Sendable () -> Double
  private let report: @Sendable (String) -> Void
  private var state = State.unopened
  private var files: LeastRecentlyUsed<String, Void>
  private var writes = 0
  private var hasFailed = false

  /// A store in the directory at `path`, made when it is missing. `report` hears of what fails, at most once for opening
  /// and once for writing.
  init(path: String, limit: Int, now: @escaping @Sendable () -> Double, report: @escaping @Sendable (String) -> Void) {
    self.path = path
    self.now = now
    self.report = report
    files = LeastRecentlyUsed(limit: limit)
  }

  deinit {
    guard case .open(let directory, let lock) = state else { return }
    _ = close(directory)
    _ = close(lock)
  }

  /// The entry of `name`; one that is broken or has expired is removed.
  func read(_ name: Name) -> CacheEntry? {
    guard let directory = opened(), files.contains(name.text) else { return nil }
    let file = openat(directory, name.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else {
      remove(name)
      return nil
    }
    defer { _ = close(file) }
    guard let entry = entry(in: file, name), entry.expiresAt > now() else {
      remove(name)
      return nil
    }
    _ = files.value(for: name.text)
    // The time of the last use, for the order after the next start.
    _ = futimens(file, nil)
    return entry
  }

  /// Keeps `entry`, in place of one that is there. Without success there is none afterwards.
  func write(_ entry: CacheEntry, _ name: Name) {
    guard let directory = opened() else { return }
    guard entry.body.count <= files.limit else { return remove(name) }
    let bytes = entry.encoded(digest: name.digest)
    for gone in files.insert((), for: name.text, cost: bytes.count) { _ = unlinkat(directory, gone.key, 0) }
    guard files.contains(name.text) else { return }
    writes += 1
    let temporary = "\(Self.temporaryPrefix)\(writes)"
    guard save(bytes, as: temporary, in: directory), renameat(directory, temporary, directory, name.text) == 0,
      fsync(directory) == 0
    else {
      let reason = String(cString: strerror(errno))
      _ = unlinkat(directory, temporary, 0)
      remove(name)
      if !hasFailed { report("the cache in \(path) can't be written, so answers are kept in memory only: \(reason)") }
      hasFailed = true
      return
    }
  }

  /// Forgets the entry of `name`.
  func remove(_ name: Name) {
    guard let directory = opened(), files.remove(name.text) != nil else { return }
    _ = unlinkat(directory, name.text, 0)
  }

  /// Forgets all entries.
  func removeAll() {
    guard let directory = opened() else { return }
    for name in files.keys {
      _ = unlinkat(directory, name, 0)
      _ = files.remove(name)
    }
  }

  /// How many entries there are, and their bytes.
  var size: (count: Int, bytes: Int) {
    _ = opened()
    return (files.count, files.cost)
  }

  private func save(_ bytes: Data, as name: String, in directory: Int32) -> Bool {
    let file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return false }
    let isWritten = bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Self.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return fsync(file) == 0
    }
    let reason = errno
    let isClosed = close(file) == 0
    if !isWritten { errno = reason }
    return isWritten && isClosed
  }

  private func entry(in file: Int32, _ name: Name) -> CacheEntry? {
    var info = stat()
    guard fstat(file, &info) == 0, info.st_size >= CacheEntry.fixedSize, let size = Int(exactly: info.st_size),
      size <= files.limit
    else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
      guard Self.fill(bytes, from: file) else { return nil }
      return CacheEntry(decoding: UnsafeRawBufferPointer(bytes), digest: name.digest)
    }
  }

  private static func fill(_ bytes: UnsafeMutableRawBufferPointer, from file: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = pread(file, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// The C function, which the method above hides.
  private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(file, bytes, count)
    #elseif canImport(Musl)
      Musl.write(file, bytes, count)
    #else
      Darwin.write(file, bytes, count)
    #endif
  }

  private static let temporaryPrefix = "writing-"
}

extension DiskStore {
  /// The name of a key's file, and the digest that it is made of.
  struct Name {
    let digest: Data
    let text: String

    init(key: String) {
      digest = Digest.sha256(Data(key.utf8))
      text = digest.hex
    }
  }

  /// The directory's descriptor, once it has been opened, locked and swept.
  private func opened() -> Int32? {
    switch state {
    case .open(let directory, _): return directory
    case .unavailable: return nil
    case .unopened:
      state = .unavailable
      if let (directory, lock) = open() {
        state = .open(directory: directory, lock: lock)
        sweep(directory)
        return directory
      }
      return nil
    }
  }

  private func open() -> (directory: Int32, lock: Int32)? {
    try? FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let directory = Self.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      report("the cache directory \(path) can't be used, so answers are kept in memory only: \(reason)")
      return nil
    }
    let lock = openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard fchmod(directory, 0o700) == 0, lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      report(
        lock >= 0 && errno == EWOULDBLOCK
          ? "another cache uses the directory \(path), so answers are kept in memory only; give each a directory"
          : "the cache directory \(path) can't be used, so answers are kept in memory only: \(reason)")
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

  /// Takes stock: what was being written, what is broken and what has expired is removed.
  private func sweep(_ directory: Int32) {
    let time = now()
    var found: [(name: String, size: Int, used: Double)] = []
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      if name.hasPrefix(Self.temporaryPrefix) { _ = unlinkat(directory, name, 0) }
      guard name.utf8.count == 64, name.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 102 }) else {
        continue
      }
      if let file = look(at: name, in: directory), file.expiresAt > time {
        found.append((name, file.size, file.used))
      } else {
        _ = unlinkat(directory, name, 0)
      }
    }
    for file in found.sorted(by: { $0.used < $1.used }) {
      for gone in files.insert((), for: file.name, cost: file.size) { _ = unlinkat(directory, gone.key, 0) }
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
