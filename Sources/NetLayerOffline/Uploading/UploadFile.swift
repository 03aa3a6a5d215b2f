import PortableFoundation

/// The version of a file: its size, its time of change, and digests of its start and end.
struct FileVersion: Sendable, Equatable, Codable {
  var size: Int64
  /// The time of the last change in nanoseconds since 1970.
  var changed: Int64
  /// The SHA-256 of the first and of the last 64 KB, or of the whole file if it is shorter.
  var start: String
  var end: String
}

/// An open file that is uploaded.
final class UploadFile: Sendable {
  let url: URL
  let version: FileVersion
  private let descriptor: Int32
  private let opened: Mark

  /// The properties that differ after the file is written, truncated or replaced.
  private struct Mark: Equatable {
    var (device, node, size, changed): (UInt64, UInt64, Int64, Int64)

    init(_ info: stat) {
      #if canImport(Darwin)
        let time = info.st_mtimespec
      #else
        let time = info.st_mtim
      #endif
      (device, node) = (UInt64(truncatingIfNeeded: info.st_dev), UInt64(info.st_ino))
      size = Int64(info.st_size)
      changed = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
  }

  /// Opens `url`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if it can't be read or is not a regular file.
  init(_ url: URL) throws(NetworkError) {
    self.url = url
    let (file, _) = try BodyFile.open(url)
    descriptor = file
    var info = stat()
    guard fstat(file, &info) == 0 else { throw Self.unreadable(url) }
    let mark = Mark(info)
    opened = mark
    let edge = Int(min(mark.size, 64 << 10))
    guard let start = Self.bytes(of: file, from: 0, count: edge),
      let end = Self.bytes(of: file, from: mark.size - Int64(edge), count: edge)
    else { throw Self.unreadable(url) }
    version = FileVersion(
      size: mark.size, changed: mark.changed, start: Hash.sha256(start).hex, end: Hash.sha256(end).hex)
  }

  deinit { closeDescriptor(descriptor) }

  /// Whether the file with this name is still the open one, and has not been written.
  var isUnchanged: Bool {
    var named = stat()
    return stat(url.path, &named) == 0 && Mark(named) == opened
  }

  /// Returns `count` bytes from `offset`; `nil` if the file is shorter, or can't be read.
  func bytes(from offset: Int64, count: Int) -> Data? { Self.bytes(of: descriptor, from: offset, count: count) }

  private static func bytes(of file: Int32, from offset: Int64, count: Int) -> Data? {
    var bytes = Data(count: count)
    return bytes.withUnsafeMutableBytes { DurableDirectory.fill($0, from: file, at: offset) } ? bytes : nil
  }

  private static func unreadable(_ url: URL) -> NetworkError {
    NetworkError(
      kind: .invalidRequest, reason: "the file \(url.path) can't be read: \(SystemError.text(of: SystemError.last))")
  }
}
