import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a body is written into while it arrives; it appears at its destination only when it is complete.
///
/// Written beside the destination under a name of its own, so that moving it there is one step of the file system. Given
/// up, it is removed. Touched by one thread at a time.
final class DownloadFile {
  private let destination: URL
  private let temporary: URL
  private var descriptor: Int32
  /// How many bytes have been written.
  private(set) var count: Int64 = 0
  /// Why the last write failed.
  private(set) var failure: String?

  /// If `isPrivate`, the file can be read by its owner alone.
  ///
  /// - Throws: `NetworkError` of kind `file` when no file can be made there.
  init(_ destination: URL, isPrivate: Bool = false) throws(NetworkError) {
    self.destination = destination
    temporary = destination.deletingLastPathComponent()
      .appending(path: ".\(UUID().uuidString).part")
    descriptor = -1
    if let refusal = Self.refusal(of: destination) { throw refusal }
    descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw error("can't be made") }
  }

  /// Why no download can become `destination`, if that is clear before it begins.
  static func refusal(of destination: URL) -> NetworkError? {
    guard destination.isFileURL else {
      return NetworkError(kind: .file, reason: "a download needs a file URL, not \(destination.absoluteString)")
    }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: destination.path, isDirectory: &isDirectory), isDirectory.boolValue
    else { return nil }
    return NetworkError(
      kind: .file, reason: "\(destination.path) is a directory; name the file that the download becomes")
  }

  deinit {
    guard descriptor >= 0 else { return }
    _ = close(descriptor)
    _ = unlink(temporary.path)
  }

  /// Writes all of `bytes`; `false`, with `failure` set, when the disk does not take them.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var done = 0
    while done < bytes.count {
      let written = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        failure = error("can't be written").reason
        return false
      }
      done += written
    }
    count += Int64(done)
    return true
  }

  /// Moves the file to its destination, in place of one that is there, when the disk has it: after a crash there is the
  /// old file or the whole new one.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  func complete() throws(NetworkError) {
    let isSaved = fsync(descriptor) == 0
    // The first failure is the one to name.
    let code = errno
    let isClosed = close(descriptor) == 0
    descriptor = -1
    if !isSaved { errno = code }
    guard isSaved, isClosed, rename(temporary.path, destination.path) == 0 else {
      let failure = error("can't be moved to its place")
      _ = unlink(temporary.path)
      throw failure
    }
  }

  private func error(_ what: String) -> NetworkError {
    NetworkError(kind: .file, reason: "the file \(destination.path) \(what): \(String(cString: strerror(errno)))")
  }
}
