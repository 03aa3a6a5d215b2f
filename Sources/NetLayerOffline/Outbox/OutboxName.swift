import PortableFoundation

/// The name of an entry's file: 16 hexadecimal digits and a UUID. The number is the order, the UUID the identity.
/// Two processes may take one number, so names are compared as a whole.
struct OutboxName: Hashable, Comparable, Sendable {
  let number: UInt64
  let id: UUID

  init(_ number: UInt64, _ id: UUID) { (self.number, self.id) = (number, id) }

  var text: String { number.hex(digits: 16) + "-" + id.uuidString }

  /// Reads the name of a file, and the status of a parked entry, which follows the name after a plus sign.
  ///
  /// It reads bytes, because a listing has up to 10,000 names.
  static func read(_ file: String) -> (name: OutboxName, hold: OutboxState.Hold?)? {
    let bytes = file.utf8
    guard bytes.count >= length,
      let name = bytes.withContiguousStorageIfAvailable({ name($0) }) ?? Array(bytes).withUnsafeBufferPointer(name)
    else { return nil }
    guard bytes.count > length else { return (name, nil) }
    let suffix = String(file.dropFirst(length))
    if suffix == "+parked" { return (name, .parked(status: nil)) }
    guard let status = Int(suffix.dropFirst()), "+\(status)" == suffix else { return nil }
    return (name, .parked(status: status))
  }

  /// The number of bytes of a name.
  private static let length = 53

  private static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> OutboxName? {
    guard bytes[16] == UInt8(ascii: "-") else { return nil }
    var number: UInt64 = 0
    for byte in bytes[..<16] {
      guard let digit = digit(byte, UInt8(ascii: "a")) else { return nil }
      number = number << 4 | UInt64(digit)
    }
    var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    let isID = withUnsafeMutableBytes(of: &id) { id in
      var count = 0
      for (index, byte) in bytes[17..<length].enumerated() {
        if index == 8 || index == 13 || index == 18 || index == 23 {
          guard byte == UInt8(ascii: "-") else { return false }
        } else {
          guard let digit = digit(byte, UInt8(ascii: "A")) else { return false }
          id[count / 2] = id[count / 2] << 4 | digit
          count += 1
        }
      }
      return true
    }
    return isID ? OutboxName(number, UUID(uuid: id)) : nil
  }

  /// Returns the value of a hexadecimal digit in the case of `letter`.
  private static func digit(_ byte: UInt8, _ letter: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case letter..<letter + 6: byte - letter + 10
    default: nil
    }
  }

  /// Returns the name of the file of a parked entry.
  func parked(_ status: Int?) -> String { "\(text)+\(status.map { "\($0)" } ?? "parked")" }

  static func < (a: OutboxName, b: OutboxName) -> Bool { a.number == b.number ? a.id < b.id : a.number < b.number }
}
