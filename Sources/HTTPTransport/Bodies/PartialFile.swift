import PortableFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is written beside its destination, and moves there in one step when it is complete. Touched by one thread at a
/// time.
///
/// One that is resumable outlives the process, so that a later one goes on: `NAME.part` has the bytes, `NAME.part.json` a note
/// of the version that they are of; a name that leaves no room for that is cut, and its digest added. Bytes without a note are
/// somebody else's file, and left alone. It is locked while it is open, so that two never write into one. Any other has
/// a name of its own, and is removed when it is released.
package final class PartialFile {
  /// The version of a resource that the bytes are of.
  package struct Note: Codable, Equatable {
    /// A strong `ETag` or a `Last-Modified`: what `If-Range` takes (RFC 9110 §13.1.5); `nil` where nothing can go on from the
    /// bytes.
    package var validator: String?
    /// The URL that was asked for, without its query, which may hold a signature that expires; empty where nothing can go
    /// on.
    package var resource: String?
    /// The length of the whole in bytes, where it is known.
    package var total: Int64?

    package init(validator: String? = nil, resource: String? = nil, total: Int64? = nil) {
      (self.validator, self.resource, self.total) = (validator, resource, total)
    }
  }

  package let destination: URL
  private let part: URL
  /// The note's file; `nil` where nobody goes on.
  private let sidecar: URL?
  private var descriptor: Int32 = -1
  /// How many bytes are there.
  package private(set) var count: Int64 = 0
  /// The version of the bytes; `nil` when nothing can go on from them.
  package private(set) var note: Note?

  /// Begins a file that only this run writes; if `isPrivate`, its owner alone can read it.
  ///
  /// - Throws: `NetworkError` of kind `file` when no file can be made there.
  init(_ destination: URL, isPrivate: Bool = false) throws(NetworkError) {
    (self.destination, sidecar) = (destination, nil)
    part = destination.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
    if let refusal = Self.refusal(of: destination) { throw refusal }
    descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw error("can't be made") }
  }

  /// Opens what there is, or begins anew.
  ///
  /// - Throws: `NetworkError` of kind `file`: no file can be made there, or another download is at it.
  package init(resuming destination: URL) throws(NetworkError) {
    self.destination = destination
    part = destination.deletingLastPathComponent().appending(path: Self.name(for: destination.lastPathComponent))
    let sidecar = part.appendingPathExtension("json")
    self.sidecar = sidecar
    if let refusal = Self.refusal(of: destination) { throw refusal }
    repeat {
      letGo()
      descriptor = open(part.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
      guard descriptor >= 0 else { throw error("can't be made") }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        // Only closed: the bytes, and both names, are the other download's.
        closeFile()
        throw NetworkError(
          kind: .file, reason: "another download writes to \(part.path); wait for it, or choose another destination")
      }
      // Another may have moved the file to its place between the two steps: then this is the finished one.
    } while !isStillThere
    let known = try? Data(contentsOf: sidecar)
    let written = known.flatMap { try? JSONDecoder().decode(Note.self, from: $0) }
    count = Int64(lseek(descriptor, 0, SEEK_END))
    if known != nil || count > 0, written?.resource == nil, written?.validator == nil {
      // Only closed, but for one that was made just now: the bytes are somebody else's.
      if count == 0 { _ = unlink(part.path) }
      closeFile()
      let other = known == nil ? part : sidecar
      throw NetworkError(
        kind: .file, reason: "\(other.path) is not of a download; move it away, or choose another destination")
    }
    note = written?.validator == nil ? nil : written
    if count > 0, note == nil { try restart(nil) }
  }

  /// The name of the partial file of `name`, whose own note has a name of at most 255 bytes.
  private static func name(for name: String) -> String {
    let room = 255 - ".part.json".utf8.count
    guard name.utf8.count > room else { return name + ".part" }
    let digest = "-" + Digest.sha256(Data(name.utf8)).hex.prefix(16)
    var start = name
    while start.utf8.count + digest.utf8.count > room { start.removeLast() }
    return start + digest + ".part"
  }

  /// The reason that no file can become `destination`, if that is clear before it begins.
  static func refusal(of destination: URL) -> NetworkError? {
    guard destination.isFileURL else {
      return NetworkError(kind: .file, reason: "a download needs a file URL, not \(destination.absoluteString)")
    }
    guard isDirectory(destination.path) else { return nil }
    return NetworkError(
      kind: .file, reason: "\(destination.path) is a directory; name the file that the download becomes")
  }

  deinit { letGo() }

  /// Lets go of the file; nothing can be written any more. Only what a later run can go on from is left behind.
  package func letGo() {
    guard descriptor >= 0 else { return }
    if count == 0 || sidecar == nil, isStillThere { discard() }
    closeFile()
  }

  private func closeFile() {
    _ = close(descriptor)
    descriptor = -1
  }

  /// Whether the name still leads to the file that is open.
  private var isStillThere: Bool {
    var (mine, named) = (stat(), stat())
    return fstat(descriptor, &mine) == 0 && stat(part.path, &named) == 0 && mine.st_ino == named.st_ino
      && mine.st_dev == named.st_dev
  }

  /// Throws away what there is; what comes is of the version that `note` says, `nil` if no other run can go on from it.
  package func restart(_ note: Note?) throws(NetworkError) {
    self.note = note
    count = 0
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw error("can't be emptied") }
    guard let sidecar else { return }
    // Before the first byte: bytes without a note are not a download's, a note without bytes is harmless.
    do { try JSONEncoder().encode(note ?? Note(resource: "")).write(to: sidecar, options: .atomic) } catch {
      throw NetworkError(kind: .file, reason: "the file \(sidecar.path) can't be written: \(error)", underlying: error)
    }
  }

  /// Adds `bytes`.
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

  /// The SHA-256 of what is there, read in pieces.
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

  /// Moves the file to its destination, in place of one that is there, when the disk has it: after a crash there is the
  /// old file or the whole new one.
  package func complete() throws(NetworkError) {
    guard fsync(descriptor) == 0, rename(part.path, destination.path) == 0 else {
      throw error("can't be moved to its place")
    }
    guard let sidecar else { return }
    _ = unlink(sidecar.path)
    let directory = open(destination.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    if directory >= 0 {
      _ = fsync(directory)
      _ = close(directory)
    }
  }

  /// Removes everything: the bytes are of no use.
  package func discard() {
    _ = unlink(part.path)
    if let sidecar { _ = unlink(sidecar.path) }
  }

  private func error(_ what: String) -> NetworkError {
    NetworkError(kind: .file, reason: "the file \(destination.path) \(what): \(String(cString: strerror(errno)))")
  }
}
