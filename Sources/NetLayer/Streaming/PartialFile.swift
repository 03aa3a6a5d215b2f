import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What has been downloaded of a file, beside its destination, with a note of which version it is of.
///
/// `NAME.part` has the bytes, `NAME.part.json` the note; a name that leaves no room for that is cut, and its digest added.
/// Both outlive the process, so that a later one goes on. Bytes without a note are somebody else's file, and left alone.
/// Locked while it is open, so that two never write into one. Touched by one thread at a time.
final class PartialFile {
  /// Which version of which resource the bytes are of.
  struct Note: Codable, Equatable {
    /// A strong `ETag` or a `Last-Modified`: what `If-Range` takes (RFC 9110 §13.1.5); `nil` where nothing can go on from the
    /// bytes.
    var validator: String?
    /// The URL that was asked for, without its query, which may hold a signature that expires; empty where nothing can go
    /// on.
    var resource: String?
    /// The length of the whole in bytes, where it is known.
    var total: Int64?
  }

  let destination: URL
  private let part: URL
  private let sidecar: URL
  private var descriptor: Int32 = -1
  /// How many bytes are there.
  private(set) var count: Int64 = 0
  /// What they are of; `nil` when nothing can go on from them.
  private(set) var note: Note?

  /// Opens what there is, or begins anew.
  ///
  /// - Throws: `NetworkError` of kind `file`: no file can be made there, or another download is at it.
  init(_ destination: URL) throws(NetworkError) {
    self.destination = destination
    let name = Self.name(for: destination.lastPathComponent)
    part = destination.deletingLastPathComponent().appending(path: name)
    sidecar = part.appendingPathExtension("json")
    if let refusal = DownloadFile.refusal(of: destination) { throw refusal }
    repeat {
      letGo()
      descriptor = open(part.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
      guard descriptor >= 0 else { throw error("can't be made") }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        // Only closed: the bytes, and both names, are the other download's.
        _ = close(descriptor)
        descriptor = -1
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
      _ = close(descriptor)
      descriptor = -1
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

  deinit { letGo() }

  /// Lets go of the file; nothing can be written any more. One without content leaves nothing behind.
  func letGo() {
    guard descriptor >= 0 else { return }
    if count == 0, isStillThere { discard() }
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
  func restart(_ note: Note?) throws(NetworkError) {
    self.note = note
    count = 0
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw error("can't be emptied") }
    // Before the first byte: bytes without a note are not a download's, a note without bytes is harmless.
    do { try JSONEncoder().encode(note ?? Note(resource: "")).write(to: sidecar, options: .atomic) } catch {
      throw NetworkError(kind: .file, reason: "the file \(sidecar.path) can't be written: \(error)", underlying: error)
    }
  }

  /// Adds `bytes`.
  func append(_ bytes: Data) throws(NetworkError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw error("can't be written") }
      done += written
      count += Int64(written)
    }
  }

  /// The SHA-256 of what is there, read in pieces.
  func digest() throws(NetworkError) -> Data {
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

  /// Moves the file to its destination, in place of one that is there, when the disk has it.
  func complete() throws(NetworkError) {
    guard fsync(descriptor) == 0, rename(part.path, destination.path) == 0 else {
      throw error("can't be moved to its place")
    }
    _ = unlink(sidecar.path)
    let directory = open(destination.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    if directory >= 0 {
      _ = fsync(directory)
      _ = close(directory)
    }
  }

  /// Removes everything: the bytes are of no use.
  func discard() {
    _ = unlink(part.path)
    _ = unlink(sidecar.path)
  }

  private func error(_ what: String) -> NetworkError {
    NetworkError(kind: .file, reason: "the file \(part.path) \(what): \(String(cString: strerror(errno)))")
  }
}
