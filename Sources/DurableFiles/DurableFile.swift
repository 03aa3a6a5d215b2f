import PortableFoundation

/// A small file of this user that survives a crash, and whose damage is recognized.
///
/// The first line is `NLfile1 CHECKSUM COUNT`: the CRC-32 of the content as eight hexadecimal digits, and its number of
/// bytes. The content follows.
package struct DurableFile {
  /// The file.
  package let url: URL
  private let directory: DurableDirectory
  private let limit: Int
  private var name: String { url.lastPathComponent }

  /// Opens the directory of `url`, which is created if it is missing. A longer file than `limit` bytes is an error.
  package init(_ url: URL, limit: Int = 1 << 20) throws {
    (self.url, self.limit) = (url, limit)
    let folder = try DurableDirectory.createFolder(url.deletingLastPathComponent().path)
    // Opened with its links resolved, because only the file itself belongs to this type.
    directory = try DurableDirectory(path: URL(filePath: folder).resolvingSymlinksInPath().path)
  }

  /// The content of a file.
  package enum Content: Equatable {
    /// Bytes as they were written, or JSON of a version that wrote no first line.
    case intact(Data)
    /// A truncated or changed file.
    case damaged
    /// A file of another program.
    case unknown
  }

  /// Returns the content, and whether nobody but this user can have written it; `nil` if there is no file.
  ///
  /// - Throws: `POSIXError`.
  package func read() throws -> (content: Content, isOwn: Bool)? {
    guard let (bytes, isOwn) = try directory.read(name, limit: limit) else { return nil }
    // An empty file may belong to any program.
    return (bytes.isEmpty ? .unknown : Self.content(of: bytes), isOwn)
  }

  /// Replaces the content. It is on disk when this function returns. Unfinished files of a process that was killed are
  /// removed, because they may contain secrets.
  package func write(_ content: Data, mode: mode_t = 0o600) throws {
    try? directory.sweep()
    try directory.write(Self.framed(content), as: name, mode: mode)
  }

  /// Removes the file, if it exists, and unfinished ones.
  package func remove() throws {
    try? directory.sweep()
    try directory.removeDurably(name)
  }

  /// Locks the file plus `.lock`, which is created if it is missing. Returns `nil` if another open file has the lock.
  package func lock() throws -> Int32? { try openLocked(name + ".lock", in: directory.descriptor) }

  private static let magic = "NLfile1 "

  /// Returns `content` with the line that recognizes damage.
  package static func framed(_ content: Data) -> Data { line(for: content) + content }

  private static func line(for content: Data) -> Data {
    let checksum = String(content.withUnsafeBytes { Checksum.crc32($0) }, radix: 16)
    let padding = String(repeating: "0", count: 8 - checksum.count)
    return Data("\(magic)\(padding)\(checksum) \(content.count)\n".utf8)
  }

  /// Returns the content of the file with `bytes`; `nil` if it is truncated or changed.
  package static func intact(_ bytes: Data) -> Data? {
    let content = bytes.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
    // Compares all bytes, so that a damaged line is not another spelling of the same numbers.
    return bytes[..<content.startIndex] == line(for: content) ? Data(content) : nil
  }

  /// Returns the content of the file with `bytes`, or which file it is.
  static func content(of bytes: Data) -> Content {
    if bytes.first == UInt8(ascii: "{") { return .intact(bytes) }
    if let content = intact(bytes) { return .intact(content) }
    // Most of the first word remains after an accident.
    return zip(bytes, magic.utf8).count { $0 == $1 } >= min(bytes.count, 4) ? .damaged : .unknown
  }
}
