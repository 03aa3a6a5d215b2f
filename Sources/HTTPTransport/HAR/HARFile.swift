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

  /// Creates the archive at `url` with `entries`, and replaces an existing file. Only its owner can read it.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `POSIXError`: `EPERM` if there is a file that is not a regular file of this user, `EFBIG` beyond the limit.
  package init(_ url: URL, entries: [HAREntry], limit: Int) throws {
    let file = url.resolvingSymlinksInPath()
    var info = stat()
    // Renaming a new file to the name of a device or a FIFO would remove it.
    if lstat(file.path, &info) == 0, info.st_mode & S_IFMT != S_IFREG || info.st_uid != geteuid() {
      throw POSIXError(.EPERM)
    }
    directory = try DurableDirectory(path: file.deletingLastPathComponent().path)
    try? directory.sweep()
    (name, self.limit, self.entries) = (file.lastPathComponent, limit, entries.map(HARWriter.encoded))
    try write()
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
