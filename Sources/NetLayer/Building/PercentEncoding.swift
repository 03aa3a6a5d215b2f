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

  /// Returns whether a byte is allowed in a query (RFC 3986 §3.4).
  static func query(_ byte: UInt8) -> Bool { path(byte) || byte == UInt8(ascii: "?") }

  /// Returns `text` with every byte percent-encoded for which `keep` returns `false`. Existing escapes are encoded
  /// again, unless `keepingEscapes` is `true`.
  static func encode(
    _ text: String, keeping keep: (UInt8) -> Bool, space: String = "%20", keepingEscapes: Bool = false
  ) -> String {
    // Most texts need no escape.
    if text.utf8.allSatisfy(keep) { return text }
    let bytes = Array(text.utf8)
    // Bytes, because appending to a string takes several times as long.
    var result: [UInt8] = []
    result.reserveCapacity(3 * bytes.count)
    for (index, byte) in bytes.enumerated() {
      if keep(byte) || (keepingEscapes && isEscape(bytes, at: index)) {
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

  static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
    guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return false }
    return isHexadecimal(bytes[index + 1]) && isHexadecimal(bytes[index + 2])
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

extension String {
  /// The text as one path component: everything except letters, digits and `-._~` is percent-encoded, including
  /// slashes.
  ///
  /// Use it for text from users. `..` can't be escaped; a path that contains it is an error when the request is built.
  public var urlEscaped: String { PercentEncoding.encode(self, keeping: PercentEncoding.unreserved) }
}
