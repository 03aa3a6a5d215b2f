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
  /// The open and locked file; -1 for none.
  private var lock: Int32 = -1
  /// The stored record, whose unknown members remain.
  private var record = DurableRecord()
  private var isSaved = false
  private var isGone = false

  private static let version = 1
  private static let maxSize = 1 << 16

  /// Returns the path of the note about `file`.
  ///
  /// - Parameter identity: The text of `UploadIdentity`. 128 bits of its digest distinguish notes.
  static func url(for file: URL, in directory: URL?, identity: String) -> URL {
    let suffix = "-" + Hash.sha256(Data(identity.utf8)).hex.prefix(32) + ".upload"
    let stem = PartialFile.shortened(file.lastPathComponent, to: 255 - suffix.utf8.count)
    // The same path through a symbolic link of a directory.
    let folder = DurableDirectory.followingOwnLinks((directory ?? file.deletingLastPathComponent()).path)
    return URL(filePath: folder).resolvingSymlinksInPath().appending(path: stem + suffix)
  }

  /// Opens and locks the file.
  ///
  /// - Throws: `NetworkError` of kind `fileInUse` if another upload has the lock, or `file`.
  init(_ url: URL) throws(NetworkError) {
    (path, name) = (url.path, url.lastPathComponent)
    UploadRegistry.shared.settle(path)
    let locked: Int32?
    do {
      directory = try DurableDirectory(path: DurableDirectory.createFolder(url.deletingLastPathComponent().path))
      try? directory.sweep()
      locked = try openLocked(name, in: directory.descriptor)
    } catch {
      throw Self.failure(url.path, error)
    }
    guard let locked else { throw Self.busy(path) }
    lock = locked
  }

  deinit { letGo() }

  /// Reads the note.
  ///
  /// - Throws: `NetworkError` of kind `file` for a note of a later version, which remains.
  func read() throws(NetworkError) -> Content {
    isSaved = true
    guard let found = try? directory.read(name, limit: Self.maxSize) else { return .damaged }
    isSaved = !found.bytes.isEmpty
    guard isSaved else { return .none }
    guard found.isOwn, let record = DurableRecord(found.bytes) else { return .damaged }
    guard record.lowestVersion <= Self.version else {
      throw NetworkError(
        kind: .file, reason: "a later version of this program wrote \(path); update the program, or remove the file")
    }
    guard let note = UploadState.Note(record.head) else { return .damaged }
    self.record = record
    return .note(note)
  }

  /// Replaces the note. It is on disk when this function returns.
  func save(_ note: UploadState.Note) throws(NetworkError) {
    do {
      try note.write(to: &record)
      record.set("version", JSON(integerLiteral: Self.version))
      let bytes = record.bytes
      // A note that is not read later would be worse than none.
      guard bytes.count <= Self.maxSize else {
        throw NetworkError(
          kind: .file,
          reason:
            "the note \(path) would have \(bytes.count) bytes, at most \(Self.maxSize) are read; the server's URL "
            + "of the upload has \(note.url.absoluteString.utf8.count)")
      }
      try replace(bytes)
      isSaved = true
      try directory.sync()
    } catch {
      throw Self.failure(path, error)
    }
  }

  /// Whether no other upload can have the lock of this one. It could if the locked file was removed.
  private var isLocked: Bool { isFile(lock, named: name, in: directory.descriptor) }

  /// Locks the file again, and writes its note, if it was removed.
  ///
  /// - Throws: `NetworkError` of kind `fileInUse` if another upload has the lock now, or `file`.
  func keepLock() throws(NetworkError) {
    guard lock >= 0, !isLocked else { return }
    do { try replace(isSaved ? record.bytes : Data()) } catch { throw Self.failure(path, error) }
  }

  private func replace(_ bytes: Data) throws {
    if !isLocked {
      guard let again = try openLocked(name, in: directory.descriptor) else { throw Self.busy(path) }
      closeDescriptor(exchange(&lock, with: again))
    }
    let new = try directory.create(bytes)
    try new.rename(to: name)
    closeDescriptor(exchange(&lock, with: new.release()))
  }

  /// Removes the note and keeps the lock.
  func forget() {
    guard isSaved else { return }
    record = DurableRecord()
    isSaved = false
    // An empty file holds the lock; without it, a second upload could begin before this one has ended.
    guard (try? replace(Data())) == nil else { return }
    if isLocked { directory.remove(name) }
    // The next file of this name belongs to another upload.
    isGone = true
  }

  /// Removes the note and releases the lock.
  func end() {
    guard lock >= 0 else { return }
    forget()
    letGo()
  }

  /// Releases the lock. A note remains, for a later run.
  func letGo() {
    guard lock >= 0 else { return }
    if !isSaved, !isGone, isLocked { directory.remove(name) }
    closeDescriptor(exchange(&lock, with: -1))
  }

  private static func busy(_ path: String) -> NetworkError {
    NetworkError(
      kind: .fileInUse,
      reason: "another upload of this file to the same endpoint uses \(path); wait for it, or call cancelUpload")
  }

  private static func failure(_ path: String, _ error: any Error) -> NetworkError {
    (error as? NetworkError)
      ?? NetworkError(
        kind: .file,
        reason: "the note \(path) can't be written: \(SystemError.text(of: error)); pass a writable directory as "
          + "storingIn", underlying: error)
  }
}

extension UploadState.Note {
  /// Reads the head of a record; `nil` if it is not a note that this version could have written.
  init?(_ head: JSON) {
    guard let note = try? JSONDecoder().decode(Self.self, from: head.data), note.file.size >= 0,
      note.url.host?.isEmpty == false, ["http", "https"].contains(note.url.scheme?.lowercased() ?? "")
    else { return nil }
    self = note
  }

  func write(to record: inout DurableRecord) throws {
    for member in try JSON(parsing: JSONEncoder().encode(self)).members ?? [] { record.set(member.key, member.value) }
  }
}
