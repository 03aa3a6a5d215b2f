import Foundation

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
  enum State {
    case unopened
    case open(directory: Int32, lock: Int32)
    /// Only in memory from now on.
    case unavailable
  }

  let path: String
  let now: @Sendable () -> Double
  let report: @Sendable (String) -> Void
  var state = State.unopened
  var files: LeastRecentlyUsed<String, Void>
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
      return CacheEntry.decoded(UnsafeRawBufferPointer(bytes), digest: name.digest)
    }
  }

  static func fill(_ bytes: UnsafeMutableRawBufferPointer, from file: Int32) -> Bool {
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

  static let temporaryPrefix = "writing-"
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
}
