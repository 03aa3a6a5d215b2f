import PortableFoundation

/// Percent-encoding of UTF-8 (RFC 3986 §2.1).
enum PercentEncoding {
  /// Returns whether a byte is an unreserved character (RFC 3986 §2.3).
  static func unreserved(_ byte: UInt8) -> Bool { byte.isUnreserved }

  /// Returns whether a byte is allowed in a path (RFC 3986 §3.3), including slashes.
  static func path(_ byte: UInt8) -> Bool {
    if unreserved(byte) { return true }
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"),
      UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
      UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
      return true
    default:
      return false
    }
  }

  /// Returns `text` with every byte percent-encoded for which `keep` returns `false`. Existing escapes are encoded
  /// again.
  static func encode(_ text: String, keeping keep: (UInt8) -> Bool, space: String = "%20") -> String {
    // Most texts need no escape.
    if text.utf8.allSatisfy(keep) { return text }
    // Bytes, because appending to a string takes several times as long.
    var result: [UInt8] = []
    result.reserveCapacity(3 * text.utf8.count)
    for byte in text.utf8 {
      if keep(byte) {
        result.append(byte)
      } else if byte == 0x20 {
        result += space.utf8
      } else {
        result.append(UInt8(ascii: "%"))
        result.append(digits[Int(byte >> 4)])
        result.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}

extension String {
  /// The text as one path component: everything except letters, digits and `-._~` is percent-encoded, including
  /// slashes.
  ///
  /// Use it for text from users. `..` can't be escaped; a path that contains it is an error when the request is built.
  public var urlEscaped: String { PercentEncoding.encode(self, keeping: PercentEncoding.unreserved) }
}
