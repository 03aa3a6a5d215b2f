import PortableFoundation

/// A store of entries as files in one directory: the most recently used ones, up to `limit` bytes.
///
/// The name of a file is the SHA-256 of its key. A file appears under that name only when it is complete and on disk:
/// see ``DurableDirectory``. The store is opened at first use, by one process at a time.
/// Except for `Writing`, it is used on one queue only.
final class DiskStore: @unchecked Sendable {  // safe: used on one serial queue only
  let path: String
  let now: @Sendable () -> Double
  private let onProblem: @Sendable (String) -> Void
  /// The open directory; `nil` until it is open. Each use retries to open it.
  var directory: DurableDirectory?
  /// The tags of each file.
  var files: LeastRecentlyUsed<String, [String]>
  /// The files that are being written, by name. Each has a number, so that a file that was removed meanwhile does not
  /// reappear.
  var pending: [String: (number: Int, tags: [String])] = [:]
  private var writes = 0
  private var reported: Set<String> = []
  /// The names and tags that were removed or replaced while the directory could not be opened; `nil` for all.
  var missed: Set<String>? = []

  /// Creates a store in the directory at `path`, which is created if missing.
  init(path: String, limit: Int, now: @escaping @Sendable () -> Double, onProblem: @escaping @Sendable (String) -> Void)
  {
    self.path = path
    self.now = now
    self.onProblem = onProblem
    files = LeastRecentlyUsed(limit: limit)
  }

  /// Returns the entry of `name`. A corrupt or expired entry is removed.
  func read(_ name: Name) -> CacheEntry? {
    guard let directory = opened(), files.contains(name.text) else { return nil }
    let file = directory.open(name.text)
    guard file >= 0 else {
      if !Self.isShortage(errno) { remove(name) }
      return nil
    }
    defer { _ = close(file) }
    guard let entry = entry(in: file, name), entry.expiresAt > now() else {
      remove(name)
      return nil
    }
    _ = files.value(for: name.text)
    // Sets the time of the last use, for the order after the next start.
    _ = futimens(file, nil)
    return entry
  }

  /// Prepares to write `entry`, which replaces an existing one immediately. Returns `nil` if that is not possible.
  func begin(_ entry: CacheEntry, _ name: Name) -> Writing? {
    remove(name, unlinks: false)
    guard let directory = opened() else { return nil }
    guard entry.body.count <= files.limit else {
      directory.remove(name.text)
      return nil
    }
    writes += 1
    pending[name.text] = (writes, entry.tags)
    return Writing(entry: entry, name: name, directory: directory, number: writes)
  }

  /// Renames the written file if it is still needed; returns whether the file was renamed.
  func finish(_ writing: Writing, _ saved: Result<DurableDirectory.NewFile, any Error>, size: Int) -> Bool {
    let name = writing.name
    guard pending[name.text]?.number == writing.number else { return false }
    pending[name.text] = nil
    do {
      try saved.get().rename(to: name.text)
    } catch {
      fail(name, error)
      return false
    }
    for gone in files.insert(writing.entry.tags, for: name.text, cost: Self.blocks(size)) {
      writing.directory.remove(gone.key)
    }
    return true
  }

  /// Removes the entry of `name`, which could not be written because of `error`.
  func fail(_ name: Name, _ error: any Error) {
    remove(name)
    guard let directory else { return }
    directory.remove(name.text)
    report(
      "the cache in \(path) can't be written, so responses are kept in memory only: \(SystemError.text(of: error))")
  }

  func report(_ problem: String) {
    if reported.insert(problem).inserted { onProblem(problem) }
  }

  /// Returns whether `reason` is a shortage of resources, not a problem with the file.
  static func isShortage(_ reason: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN].contains(reason) }

  func remove(_ name: Name) { remove(name, unlinks: true) }

  private func remove(_ name: Name, unlinks: Bool) {
    guard let directory = opened() else { return miss(name.text) }
    let isKnown = files.remove(name.text) != nil
    if pending.removeValue(forKey: name.text) != nil || isKnown, unlinks {
      directory.remove(name.text)
    }
  }

  /// Removes the entries with `tag`, even those that are being written.
  func remove(tag: String) {
    guard let directory = opened() else { return miss(tag) }
    let written = files.remove { $0.contains(tag) }.map(\.key)
    let waiting = pending.filter { $0.value.tags.contains(tag) }.map(\.key)
    for name in waiting { pending[name] = nil }
    for name in written + waiting { directory.remove(name) }
  }

  private func miss(_ name: String) {
    missed?.insert(name)
    if let count = missed?.count, count > 1000 { missed = nil }
  }

  func removeAll() {
    guard let directory = opened() else {
      missed = nil
      return
    }
    for name in files.keys + pending.keys {
      directory.remove(name)
      _ = files.remove(name)
    }
    pending = [:]
  }

  func touch(_ name: Name) {
    guard let directory = opened(), files.value(for: name.text) != nil else { return }
    _ = utimensat(directory.descriptor, name.text, nil, 0)
  }

  /// Returns the space that a file of `size` bytes takes on most disks.
  static func blocks(_ size: Int) -> Int { (size + 4095) & ~4095 }

  /// The number of entries and their bytes.
  var size: (count: Int, bytes: Int) {
    _ = opened()
    return (files.count, files.cost)
  }

  private func entry(in file: Int32, _ name: Name) -> CacheEntry? {
    guard let size = fileSize(file), size >= CacheEntry.fixedSize, size <= files.limit else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
      guard DurableDirectory.fill(bytes, from: file) else { return nil }
      return CacheEntry.decoded(UnsafeRawBufferPointer(bytes), digest: name.digest)
    }
  }

  /// The file that is locked, and that marks the directory as one of a store.
  static let marker = "netlayer-cache"

  /// Returns whether `name` is the name of an entry's file: a digest in lowercase hexadecimal digits.
  static func isEntry(_ name: String) -> Bool {
    name.utf8.count == 64 && name.utf8.allSatisfy { $0.isDigit || $0 >= 97 && $0 <= 102 }
  }
}

extension DiskStore {
  struct Name {
    let digest: Data
    let text: String

    /// Returns `nil` for a key whose response is only in memory.
    init?(key: String) {
      guard let key = CacheKey.lastingPart(of: key) else { return nil }
      digest = Hash.sha256(Data(key.utf8))
      text = digest.hex
    }
  }

  /// The slow part of writing an entry, which is independent of the store.
  struct Writing: Sendable {
    let entry: CacheEntry
    let name: Name
    let directory: DurableDirectory
    let number: Int

    /// Writes and syncs the file under a temporary name, and returns its size.
    func save() -> (file: Result<DurableDirectory.NewFile, any Error>, size: Int) {
      let bytes = entry.encoded(digest: name.digest)
      return (Result { try directory.create(bytes, isCache: true) }, bytes.count)
    }
  }
}
