import PortableFoundation

/// A file that is written next to its destination, and moved there atomically when it is complete. Used by one thread
/// at a time.
///
/// A resumable file outlives the process, so that a later process can continue the download. `NAME.part` contains the
/// bytes, and `NAME.part.json` a note about their version. A name that is too long is truncated, and its digest is
/// appended. Bytes without a note belong to another program, and are not touched. A file or note that another user can
/// write to is replaced by a new file. The file is locked while it is open, so that two downloads never write to it.
///
/// Any other file has a unique name, and is removed when this object is released.
package final class PartialFile {
  /// The version of the resource that the bytes belong to.
  package struct Note: Codable, Equatable {
    /// A strong `ETag` or a `Last-Modified` for `If-Range` (RFC 9110 §13.1.5); `nil` if the download can't be resumed.
    package var validator: String?
    /// The requested URL without its query, which may contain an expiring signature; empty if the download can't be
    /// resumed.
    package var resource: String?
    /// The length of the complete resource in bytes, if it is known.
    package var total: Int64?

    package init(validator: String? = nil, resource: String? = nil, total: Int64? = nil) {
      (self.validator, self.resource, self.total) = (validator, resource, total)
    }
  }

  package let destination: URL
  private let part: URL
  /// The note's file; `nil` if the file is not resumable.
  private let sidecar: URL?
  private var descriptor: Int32 = -1
  package private(set) var count: Int64 = 0
  /// The version of the bytes; `nil` if the download can't be resumed.
  package private(set) var note: Note?

  /// Creates a file that only this run writes. If `isPrivate` is `true`, only its owner can read it.
  ///
  /// - Throws: `NetworkError` of kind `file` if the file can't be created.
  package init(_ destination: URL, isPrivate: Bool = false) throws(NetworkError) {
    (self.destination, sidecar) = (destination, nil)
    part = destination.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
    if let failure = Self.failure(of: destination) { throw failure }
    descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw error("can't be created") }
  }

  /// Opens the existing partial file, or creates a new one.
  ///
  /// - Throws: `NetworkError` of kind `file` if the file can't be created, or another download writes to it.
  package init(resuming destination: URL) throws(NetworkError) {
    self.destination = destination
    // The name of the note has at most 255 bytes.
    let name = Self.shortened(destination.lastPathComponent, to: 255 - ".part.json".utf8.count)
    part = destination.deletingLastPathComponent().appending(path: name + ".part")
    let sidecar = part.appendingPathExtension("json")
    self.sidecar = sidecar
    if let failure = Self.failure(of: destination) { throw failure }
    let locked: Int32?
    do { locked = try openLocked(part.path, mode: 0o644) } catch { throw self.error("can't be created", error) }
    guard let locked else {
      throw NetworkError(
        kind: .file, reason: "another download writes to \(part.path); wait for it, or choose another destination")
    }
    descriptor = locked
    let (written, hasNote, isOwnNote) = Self.note(in: sidecar)
    count = Int64(lseek(descriptor, 0, SEEK_END))
    if hasNote || count > 0, written?.resource == nil, written?.validator == nil {
      // Only closes the file, unless this call has created it: the bytes belong to another program.
      if count == 0 { _ = unlink(part.path) }
      closeFile()
      let other = hasNote ? sidecar : part
      throw NetworkError(
        kind: .file, reason: "\(other.path) does not belong to a download; move it away, or choose another destination")
    }
    guard DurableDirectory.isOwn(descriptor, hasOneName: true), isOwnNote else {
      try replace()
      return
    }
    note = written.flatMap { $0.validator.map(RequestCheck.isSendable) == true ? $0 : nil }
    if count > 0, note == nil { try restart(nil) }
  }

  /// Returns the note in `sidecar`, whether there is a file, and whether nobody but this user can have written it.
  private static func note(in sidecar: URL) -> (Note?, exists: Bool, isOwn: Bool) {
    do {
      guard let (content, isOwn) = try DurableFile(sidecar).read() else { return (nil, false, true) }
      switch content {
      case .intact(let text): return (try? JSONDecoder().decode(Note.self, from: text), true, isOwn)
      // A note of a download, but of unknown bytes.
      case .damaged: return (Note(resource: ""), true, isOwn)
      case .unknown: return (nil, true, isOwn)
      }
    } catch {
      // Not a file that can be read, such as a symbolic link, which the next note replaces.
      return (nil, false, true)
    }
  }

  /// Replaces a partial file or a note that another user may have written by a new, empty file.
  private func replace() throws(NetworkError) {
    let isRemoved = unlink(part.path) == 0 && (unlink(sidecar?.path ?? "") == 0 || errno == ENOENT)
    closeFile()
    if isRemoved { descriptor = open(part.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644) }
    count = 0
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw NetworkError(
        kind: .file,
        reason: "another user can write to \(part.path) or its note; move them away, or choose another destination")
    }
  }

  /// Returns a name of at most `limit` bytes: a longer one is truncated, and its digest keeps it unique.
  package static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    let digest = "-" + Hash.sha256(Data(name.utf8)).hex.prefix(16)
    var start = name
    while start.utf8.count + digest.utf8.count > limit { start.removeLast() }
    return start + digest
  }

  /// Returns the error of a `destination` that can't become a file; `nil` if no problem can be detected in advance.
  static func failure(of destination: URL) -> NetworkError? {
    guard destination.isFileURL else {
      return NetworkError(
        kind: .file, reason: "the destination of a download must be a file URL, not \(destination.absoluteString)")
    }
    guard isDirectory(destination.path) else { return nil }
    return NetworkError(
      kind: .file, reason: "\(destination.path) is a directory; pass the path of the file to create")
  }

  deinit { letGo() }

  /// Closes the file, after which nothing can be written. It is removed unless a later run can resume it.
  package func letGo() {
    guard descriptor >= 0 else { return }
    if count == 0 || sidecar == nil { discard() }
    closeFile()
  }

  private func closeFile() {
    _ = close(descriptor)
    descriptor = -1
  }

  /// Removes all bytes. The following bytes belong to the version of `note`; pass `nil` if they can't be resumed.
  package func restart(_ note: Note?) throws(NetworkError) {
    self.note = note
    count = 0
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw error("can't be truncated") }
    guard let sidecar else { return }
    // Writes the note before the first byte, because bytes without a note are not recognized as a download. A note
    // without bytes is harmless.
    do {
      try DurableFile(sidecar).write(JSONEncoder().encode(note ?? Note(resource: "")), mode: 0o644)
    } catch {
      let reason = SystemError.text(of: error)
      throw NetworkError(kind: .file, reason: "the file \(sidecar.path) can't be written: \(reason)", underlying: error)
    }
  }

  package func append(_ bytes: some ContiguousBytes) throws(NetworkError) {
    let isWritten = bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let written = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return false }
        done += written
        count += Int64(written)
      }
      return true
    }
    if !isWritten { throw error("can't be written") }
  }

  /// Returns the SHA-256 of the file's bytes, read in chunks.
  package func digest() throws(NetworkError) -> Data {
    var digest = SHA256()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    while offset < count {
      let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { throw error("can't be read") }
      buffer.withUnsafeBytes { digest.update(UnsafeRawBufferPointer(rebasing: $0.prefix(read))) }
      offset += Int64(read)
    }
    return Data(digest.finish())
  }

  /// Moves the file to its destination once it is stored on disk, and replaces an existing file. After a crash, either
  /// the old file or the complete new file exists.
  package func complete() throws(NetworkError) {
    guard isFile(descriptor, named: part.path) else {
      throw error("was removed or replaced during the download", POSIXError(.ENOENT))
    }
    guard DurableDirectory.flush(descriptor), rename(part.path, destination.path) == 0 else {
      throw error("can't be moved to its destination")
    }
    guard let sidecar else { return }
    _ = unlink(sidecar.path)
    try? DurableDirectory(path: destination.deletingLastPathComponent().resolvingSymlinksInPath().path).sync()
  }

  /// Removes the file and its note, unless another download has replaced them.
  package func discard() {
    guard isFile(descriptor, named: part.path) else { return }
    _ = unlink(part.path)
    if let sidecar { _ = unlink(sidecar.path) }
  }

  private func error(_ what: String, _ cause: any Error = SystemError.last) -> NetworkError {
    NetworkError(kind: .file, reason: "the file \(destination.path) \(what): \(SystemError.text(of: cause))")
  }
}

/// Returns whether there is a directory at `path`, or a link to one.
package func isDirectory(_ path: String) -> Bool {
  var info = stat()
  return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
}
