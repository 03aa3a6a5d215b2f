import PortableFoundation

/// The file format, little-endian:
///
///     0  "NLcache2"              8  bytes of the head that follows the first 72 (UInt32)
///     12 bytes of the body (UInt64)      20 checksum of the body (UInt32)
///     24 expiry date, in seconds since 2001 (Double)
///     32 SHA-256 of the key (32 bytes)   64 unused    68 checksum of the above and of the head (UInt32)
///     72 head: tags, status, whether the URL had a query, times, URL, fields;   then the body
extension CacheEntry {
  static let fixedSize = 72
  private static let magic = Array("NLcache2".utf8)

  func encoded(digest: Data) -> Data {
    var head = Writer()
    head.integer(UInt32(clamping: tags.count))
    for tag in tags { head.text(tag) }
    head.integer(UInt32(clamping: status))
    head.integer(UInt32(hasQuery ? 1 : 0))
    head.integer(requestedAt.bitPattern)
    head.integer(receivedAt.bitPattern)
    head.text(url ?? "")
    head.integer(UInt32(clamping: headers.count))
    for field in headers {
      head.text(field.name)
      head.text(field.value)
    }
    var file = Writer()
    file.bytes.reserveCapacity(Self.fixedSize + head.bytes.count + body.count)
    file.bytes += Self.magic
    file.integer(UInt32(clamping: head.bytes.count))
    file.integer(UInt64(body.count))
    file.integer(body.withUnsafeBytes(Checksum.crc32))
    file.integer(expiresAt.bitPattern)
    file.bytes += digest
    file.integer(UInt32(0))
    let start = file.bytes
    file.integer((start + head.bytes).withUnsafeBytes(Checksum.crc32))
    file.bytes += head.bytes
    file.bytes += body
    return Data(file.bytes)
  }

  /// Returns the entry in `file`, whose key has the digest `digest`. Returns `nil` for a file that is incomplete, has
  /// another format, or belongs to another key.
  static func decoded(_ file: UnsafeRawBufferPointer, digest: Data) -> CacheEntry? {
    guard let fixed = FixedPart(file), file.count == fixed.fileSize,
      digest.elementsEqual(file[32..<64]), fixed.isHeadIntact(file)
    else { return nil }
    let bodySize = Int(fixed.bodySize)
    let body = UnsafeRawBufferPointer(rebasing: file[(file.count - bodySize)...])
    guard Checksum.crc32(body) == fixed.bodyChecksum else { return nil }
    var head = Reader(UnsafeRawBufferPointer(rebasing: file[Self.fixedSize..<(file.count - bodySize)]))
    guard let tags = head.texts(), let status: UInt32 = head.integer(), let flags: UInt32 = head.integer(),
      let requested: UInt64 = head.integer(),
      let received: UInt64 = head.integer(), let url = head.text(), let count: UInt32 = head.integer()
    else { return nil }
    var headers = HTTPHeaders()
    for _ in 0..<count {
      guard let name = head.text(), let value = head.text() else { return nil }
      headers.append(name, value)
    }
    let (requestedAt, receivedAt) = (Double(bitPattern: requested), Double(bitPattern: received))
    guard head.isAtEnd, abs(requestedAt) < 1e12, abs(receivedAt) < 1e12 else { return nil }
    return CacheEntry(
      status: Int(status), url: url.isEmpty ? nil : url, headers: headers, body: Data(body), requestedAt: requestedAt,
      receivedAt: receivedAt, expiresAt: fixed.expiresAt, hasQuery: flags & 1 == 1, tags: tags)
  }

  struct FixedPart {
    // The sizes are not yet checked against the file. Where `Int` has 32 bits, it can't hold all of them.
    let headSize: UInt32
    let bodySize: UInt64
    let bodyChecksum: UInt32
    let expiresAt: Double

    /// Parses the fixed part; `nil` for too few bytes or another file format.
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= CacheEntry.fixedSize, bytes.prefix(8).elementsEqual(CacheEntry.magic) else { return nil }
      var reader = Reader(UnsafeRawBufferPointer(rebasing: bytes[8...]))
      guard let head: UInt32 = reader.integer(), let body: UInt64 = reader.integer(), body < 1 << 40,
        let checksum: UInt32 = reader.integer(), let expires: UInt64 = reader.integer()
      else { return nil }
      headSize = head
      bodySize = body
      bodyChecksum = checksum
      expiresAt = Double(bitPattern: expires)
    }

    /// Returns the tags in the fixed part and the head of a file, or `nil` if these are corrupt.
    func tags(in start: UnsafeRawBufferPointer) -> [String]? {
      guard start.count - CacheEntry.fixedSize >= headSize, isHeadIntact(start) else { return nil }
      var head = Reader(UnsafeRawBufferPointer(rebasing: start[CacheEntry.fixedSize...]))
      return head.texts()
    }

    var fileSize: UInt64 { UInt64(CacheEntry.fixedSize) + UInt64(headSize) + bodySize }

    /// Returns whether the checksum matches. The file must contain the whole head.
    func isHeadIntact(_ file: UnsafeRawBufferPointer) -> Bool {
      let covered = Array(file[..<68]) + Array(file[72..<(72 + Int(headSize))])
      let stored = UInt32(littleEndian: file.loadUnaligned(fromByteOffset: 68, as: UInt32.self))
      return covered.withUnsafeBytes(Checksum.crc32) == stored
    }
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func integer<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func text(_ text: String) {
      integer(UInt32(clamping: text.utf8.count))
      bytes += text.utf8
    }
  }

  private struct Reader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func integer<Number: FixedWidthInteger>() -> Number? {
      let size = MemoryLayout<Number>.size
      guard bytes.count - place >= size else { return nil }
      defer { place += size }
      return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
    }

    mutating func texts() -> [String]? {
      guard let count: UInt32 = integer() else { return nil }
      var texts: [String] = []
      for _ in 0..<count {
        guard let text = text() else { return nil }
        texts.append(text)
      }
      return texts
    }

    mutating func text() -> String? {
      guard let size: UInt32 = integer(), bytes.count - place >= size else { return nil }
      defer { place += Int(size) }
      return String(validating: bytes[place..<(place + Int(size))], as: UTF8.self)
    }
  }
}
