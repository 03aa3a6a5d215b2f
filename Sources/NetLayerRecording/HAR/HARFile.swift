import PortableFoundation

/// An archive on disk that grows. Whenever the program or the system stops, the file is the old or the new archive.
///
/// A write replaces the whole file, because an archive that is changed in place is invalid meanwhile. A large one is thus
/// written only when it has doubled, and by `save`.
package final class HARFile: @unchecked Sendable {  // safe: used by one thread at a time
  private let directory: DurableDirectory
  private let name: String
  private let limit: Int
  private var entries: [Data]
  /// The number of bytes of the archive, and of its last write.
  private var (size, written) = (0, 0)

  /// Up to this size, an archive is written at each change: a test that has a response may read its recording.
  private static let small = 256 << 10

  /// Creates the archive at `url` with `entries`, and replaces an existing file or symbolic link. Only its owner can read it.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `POSIXError`: `EPERM` if there is a device, a FIFO or a file of another user, `EFBIG` beyond the limit.
  package init(_ url: URL, entries: [HAREntry], limit: Int) throws {
    // Only the links of the directory are followed. In one that others can write to, the file may be a link of a stranger to a
    // file of this user.
    directory = try DurableDirectory(path: url.deletingLastPathComponent().resolvingSymlinksInPath().path)
    (name, self.limit, self.entries) = (url.lastPathComponent, limit, entries.map(HARWriter.encoded))
    size = HARWriter.size(encoded: self.entries)
    // Renaming a new file to the name of a device or a FIFO would remove it.
    guard Self.isReplaceable(name, in: directory) else { throw POSIXError(.EPERM) }
    try? directory.sweep()
    try save()
  }

  private static func isReplaceable(_ name: String, in directory: DurableDirectory) -> Bool {
    var info = stat()
    guard fstatat(directory.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
    let kind = info.st_mode & S_IFMT
    return kind == S_IFLNK || kind == S_IFREG && info.st_uid == geteuid()
  }

  /// Adds `entries`. If it throws, the file and the archive are unchanged.
  ///
  /// - Returns: Whether they are on disk; else `save` has to be called.
  /// - Throws: `POSIXError`: `EFBIG` beyond the limit.
  package func append(_ new: [HAREntry]) throws -> Bool {
    let (count, former) = (entries.count, size)
    entries += new.map(HARWriter.encoded)
    size += entries[count...].reduce(0) { $0 + $1.count + HARWriter.separator }
    do {
      guard size <= limit else { throw POSIXError(.EFBIG) }
      guard size <= Self.small || size >= 2 * written else { return false }
      try save()
      return true
    } catch {
      entries.removeSubrange(count...)
      size = former
      throw error
    }
  }

  /// Writes what is not on disk yet.
  package func save() throws {
    guard size <= limit else { throw POSIXError(.EFBIG) }
    guard written < size else { return }
    try directory.write(HARWriter.archive(encoded: entries), as: name)
    written = size
  }
}
