/// An entry of a `JSONDocument`: the kind of a key or value, and its position in the text.
///
/// Bits 0–29 are the offset of the first byte, 30–59 the offset of the byte after the last, 60–62 the kind, and 63 the
/// flag. 30 bits allow texts of up to 1 GB.
struct JSONWord {
  /// The kind of an entry. A key is a string.
  enum Kind: UInt64 {
    case object = 0
    case array, string, number, `true`, `false`, null
    /// A string with an unpaired surrogate or invalid UTF-8. Reading it fails; reading its neighbors does not.
    case badString
  }

  static let maxOffset = 1 << 30 - 1

  var bits: UInt64

  @inline(__always)
  init(_ kind: Kind, from start: Int, to end: Int = 0, flag: Bool = false) {
    bits = UInt64(start) | UInt64(end) << 30 | kind.rawValue << 60 | (flag ? 1 << 63 : 0)
  }

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  @inline(__always)
  var start: Int { Int(bits & (1 << 30 - 1)) }

  @inline(__always)
  var end: Int { Int(bits >> 30 & (1 << 30 - 1)) }

  @inline(__always)
  var count: Int { end - start }

  /// The kind of the entry. Only the scanner writes entries, and it writes only these kinds.
  @inline(__always)
  var kind: Kind { Kind(rawValue: bits >> 60 & 7) ?? .null }

  @inline(__always)
  var isContainer: Bool { bits >> 60 & 7 < 2 }

  /// Whether a string has escapes, a number has a fraction or exponent, or an object may have duplicate keys.
  @inline(__always)
  var flag: Bool { bits >> 63 != 0 }

  /// The offset of the characters of a string, after the quote.
  @inline(__always)
  var textStart: Int { start + 1 }

  /// The number of bytes between the quotes of a string.
  @inline(__always)
  var textCount: Int { end - start - 2 }
}
