import PortableFoundation

/// An archive on disk that grows. Whenever the program or the system stops, the file is the old or the new archive.
///
/// Each change writes a new file, because an archive that is changed in place is invalid meanwhile.
package final class HARFile: @unchecked Sendable {  // safe: used by one thread at a time
  private let directory: DurableDirectory
  private let name: String
  private let limit: Int
  /// The JSON of the entries.
  private var entries: [Data]

  /// Creates the archive at `url` with `entries`, and replaces an existing file or symbolic link. Only its owner can read it.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `POSIXError`: `EPERM` if there is a device, a FIFO or a file of another user, `EFBIG` beyond the limit.
  package init(_ url: URL, entries: [HAREntry], limit: Int) throws {
    // Only the links of the directory are followed. In one that others can write to, the file may be a link of a stranger to a
    // file of this user.
    directory = try DurableDirectory(path: url.deletingLastPathComponent().resolvingSymlinksInPath().path)
    (name, self.limit, self.entries) = (url.lastPathComponent, limit, entries.map(HARWriter.encoded))
    // Renaming a new file to the name of a device or a FIFO would remove it.
    guard Self.isReplaceable(name, in: directory) else { throw POSIXError(.EPERM) }
    try? directory.sweep()
    try write()
  }

  private static func isReplaceable(_ name: String, in directory: DurableDirectory) -> Bool {
    var info = stat()
    guard fstatat(directory.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
    let kind = info.st_mode & S_IFMT
    return kind == S_IFLNK || kind == S_IFREG && info.st_uid == geteuid()
  }

  /// Adds `entries`, which are on disk when this function returns. If it throws, the file and the archive are unchanged.
  ///
  /// - Throws: `POSIXError`: `EFBIG` beyond the limit.
  package func append(_ new: [HAREntry]) throws {
    let count = entries.count
    entries += new.map(HARWriter.encoded)
    do {
      try write()
    } catch {
      entries.removeSubrange(count...)
      throw error
    }
  }

  private func write() throws {
    guard HARWriter.size(encoded: entries) <= limit else { throw POSIXError(.EFBIG) }
    try directory.write(HARWriter.archive(encoded: entries), as: name)
  }
}
