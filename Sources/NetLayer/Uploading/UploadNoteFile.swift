import PortableFoundation

/// The file with the note of an upload. It is locked, so that one upload at a time uses it.
///
/// An empty file is the lock of an upload without a note. Each note is a new file that is locked before it gets its
/// name, so that the lock is never lost. Used by one thread at a time.
final class UploadNoteFile {
  enum Content {
    case none
    case note(UploadState.Note)
    /// A file that is truncated or changed, or that another user may have written.
    case damaged
  }

  let path: String
  private let directory: DurableDirectory
  private let name: String
  /// The open and locked file; -1 if `written` has the lock, or none.
  private var lock: Int32 = -1
  private var written: DurableDirectory.NewFile?
  /// The stored record, whose unknown members remain.
  private var record = DurableRecord()
  private var isSaved = false
  private var isGone = false

  private static let version = 1
  private static let maxSize = 1 << 16

  /// Returns the path of the note about `file`.
  ///
  /// - Parameter key: The text that distinguishes the uploads of a file.
  static func url(for file: URL, in directory: URL?, key: String) -> URL {
    let suffix = "-" + HTTPDigest.sha256(Data(key.utf8)).hex.prefix(8) + ".upload"
    var stem = file.lastPathComponent
    if stem.utf8.count + suffix.utf8.count > 255 {
      // A long name is truncated, and its digest keeps it unique.
      let digest = "-" + HTTPDigest.sha256(Data(stem.utf8)).hex.prefix(16)
      while stem.utf8.count + digest.utf8.count + suffix.utf8.count > 255 { stem.removeLast() }
      stem += digest
    }
    return (directory ?? file.deletingLastPathComponent()).appending(path: stem + suffix)
  }

  /// Opens and locks the file.
  ///
  /// - Throws: `NetworkError` of kind `busy` if another upload has the lock, or `file`.
  init(_ url: URL) throws(NetworkError) {
    (path, name) = (url.path, url.lastPathComponent)
    let locked: Int32?
    do {
      directory = try DurableDirectory(path: url.deletingLastPathComponent().resolvingSymlinksInPath().path)
      try? directory.sweep()
      locked = try openLocked(name, in: directory.descriptor)
    } catch {
      throw Self.failure(url.path, error)
    }
    guard let locked else {
      throw NetworkError(
        kind: .busy,
        reason: "another upload of this file to the same endpoint uses \(path); wait for it, or call cancelUpload")
    }
    lock = locked
  }

  deinit { letGo() }

  /// Reads the note.
  ///
  /// - Throws: `NetworkError` of kind `file` for a note of a later version, which remains.
  func read() throws(NetworkError) -> Content {
    isSaved = true
    let count = fileSize(lock) ?? 0
    if count == 0 {
      isSaved = false
      return .none
    }
    var bytes = Data(count: min(count, Self.maxSize))
    guard DurableDirectory.isOwn(lock), count <= Self.maxSize,
      bytes.withUnsafeMutableBytes({ DurableDirectory.fill($0, from: lock) }), let record = DurableRecord(bytes)
    else { return .damaged }
    guard record.lowestVersion <= Self.version else {
      throw NetworkError(
        kind: .file, reason: "\(path) is the note of a later version of this program; update it, or remove the file")
    }
    guard let note = UploadState.Note(record.head) else { return .damaged }
    self.record = record
    return .note(note)
  }

  /// Replaces the note. It is on disk when this function returns.
  func save(_ note: UploadState.Note) throws(NetworkError) {
    note.write(to: &record)
    record.set("version", JSON(integerLiteral: Self.version))
    do {
      let new = try directory.create(record.bytes)
      try new.rename(to: name)
      written = new
      closeLock()
      isSaved = true
      try directory.sync()
    } catch {
      throw Self.failure(path, error)
    }
  }

  /// Removes the note and keeps the lock.
  func forget() {
    guard isSaved else { return }
    record = DurableRecord()
    isSaved = false
    // An empty file holds the lock; without it, a second upload could begin before this one has ended.
    if let empty = try? directory.create(Data()), (try? empty.rename(to: name)) != nil {
      written = empty
      closeLock()
    } else {
      directory.remove(name)
      // The next file of this name belongs to another upload.
      isGone = true
    }
  }

  /// Removes the note and releases the lock.
  func end() {
    guard lock >= 0 || written != nil else { return }
    forget()
    letGo()
  }

  /// Releases the lock. A note remains, for a later run.
  func letGo() {
    guard lock >= 0 || written != nil else { return }
    if !isSaved, !isGone { directory.remove(name) }
    closeLock()
    written = nil
  }

  private func closeLock() {
    if lock >= 0 { closeDescriptor(lock) }
    lock = -1
  }

  private static func failure(_ path: String, _ error: any Error) -> NetworkError {
    NetworkError(
      kind: .file,
      reason: "the note \(path) can't be written: \(SystemError.text(of: error)); pass a writable directory as "
        + "keepingStateIn", underlying: error)
  }
}

extension UploadState.Note {
  /// Reads the head of a record; `nil` if a member is missing.
  init?(_ head: JSON) {
    guard let url = head["url"].string.flatMap({ URL(string: $0) }), url.host?.isEmpty == false,
      ["http", "https"].contains(url.scheme?.lowercased() ?? ""), let size = head["size"].integer(Int64.self),
      size >= 0, let changed = head["changed"].integer(Int64.self), let start = head["start"].string,
      let end = head["end"].string, let isEnding = head["isEnding"].bool
    else { return nil }
    self.init(
      url: url, file: FileVersion(size: size, changed: changed, start: start, end: end), isEnding: isEnding)
  }

  func write(to record: inout DurableRecord) {
    record.set("url", JSON(stringLiteral: url.absoluteString))
    // An `Int` of 32 bits has room for neither.
    record.set("size", try? JSON(parsing: "\(file.size)"))
    record.set("changed", try? JSON(parsing: "\(file.changed)"))
    record.set("start", JSON(stringLiteral: file.start))
    record.set("end", JSON(stringLiteral: file.end))
    record.set("isEnding", JSON(booleanLiteral: isEnding))
  }
}
