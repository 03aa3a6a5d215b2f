import JSONText
import PortableFoundation

/// The content of a file that later and earlier versions of this package read, and whose damage is recognized: a JSON
/// object that describes a body of any bytes.
///
/// | offset | bytes | little-endian |
/// |---|---|---|
/// | 0 | 8 | `NLentry1` |
/// | 8 | 4 | the lowest version that may use the record |
/// | 12 | 4 | the number of bytes of the head |
/// | 16 | 8 | the number of bytes of the body |
/// | 24 | 4 | the CRC-32 of all other bytes |
/// | 28 | | the head, then the body |
package struct DurableRecord: Sendable {
  /// The lowest version that may use this record. Every version can read it, and keeps it unchanged.
  package var lowestVersion: UInt32
  /// A JSON object. Change it with `set(_:_:)`, which keeps members of other versions.
  package private(set) var head: JSON = [:]
  /// The body.
  package var body: Data

  /// Creates a record without members.
  package init(lowestVersion: UInt32 = 1, body: Data = Data()) {
    (self.lowestVersion, self.body) = (lowestVersion, body)
  }

  /// Reads a file; `nil` if it is truncated, extended or changed, or if the head is not an object.
  package init?(_ bytes: Data) {
    let bytes = Data(bytes)
    guard bytes.count >= Self.start, bytes.starts(with: Self.magic) else { return nil }
    let (headCount, bodyCount) = (bytes.integer(at: 12, as: UInt32.self), bytes.integer(at: 16, as: UInt64.self))
    let room = UInt64(bytes.count - Self.start)
    guard headCount <= room, bodyCount == room - UInt64(headCount),
      bytes.integer(at: 24, as: UInt32.self) == Self.checksum(bytes),
      let head = try? JSON(parsing: bytes[Self.start..<(Self.start + Int(headCount))]), head.kind == .object
    else { return nil }
    self.init(
      lowestVersion: bytes.integer(at: 8, as: UInt32.self), body: Data(bytes[(Self.start + Int(headCount))...]))
    self.head = head
  }

  /// Sets the member `name` of the head; `nil` removes it. Other members keep their text and order.
  package mutating func set(_ name: String, _ value: JSON?) {
    var members = (head.members ?? []).filter { $0.key != name }
    if let value, value.exists { members.append((name, value)) }
    let text = members.map { "\(JSON.quoted($0.key)):\($0.value)" }.joined(separator: ",")
    // Joined from valid values; beyond the depth limit, the head remains as it was.
    if let changed = try? JSON(parsing: "{\(text)}") { head = changed }
  }

  /// The content of the file.
  package var bytes: Data {
    let head = head.data
    var bytes = Data(Self.magic)
    bytes.reserveCapacity(Self.start + head.count + body.count)
    bytes.append(lowestVersion)
    bytes.append(UInt32(truncatingIfNeeded: head.count))
    bytes.append(UInt64(body.count))
    bytes.append(UInt32(0))
    bytes.append(head)
    bytes.append(body)
    withUnsafeBytes(of: Self.checksum(bytes).littleEndian) { bytes.replaceSubrange(24..<28, with: $0) }
    return bytes
  }

  private static let magic = Data("NLentry1".utf8)
  private static let start = 28

  private static func checksum(_ bytes: Data) -> UInt32 {
    bytes.withUnsafeBytes {
      Checksum.crc32(.init(rebasing: $0[start...]), after: Checksum.crc32(.init(rebasing: $0[..<24])))
    }
  }
}

extension Data {
  fileprivate func integer<Integer: FixedWidthInteger>(at offset: Int, as type: Integer.Type) -> Integer {
    withUnsafeBytes { Integer(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
  }

  fileprivate mutating func append(_ integer: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
  }
}
