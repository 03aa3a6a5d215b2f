/// One entry of a `JSONIndex`: what a key or value is, and where it stands in the text.
///
/// Bits 0–29 are the offset of the first byte, 30–59 that of one past the last, 60–62 the kind, 63 the flag. 30 bits are
/// enough for texts up to 1 GB.
struct JSONWord {
  /// What sort of value a word stands for. A key is a string.
  enum Kind: UInt64 {
    case object = 0
    case array, string, number, `true`, `false`, null
    /// A string that stands for no characters: half of a surrogate pair is in it, or bytes that are not UTF-8. It fails when it
    /// is read, not when its neighbors are.
    case badString
  }

  static let maximumOffset = 1 << 30 - 1

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

  /// Nothing but the scanner writes words, and it writes these kinds only.
  @inline(__always)
  var kind: Kind { Kind(rawValue: bits >> 60 & 7) ?? .null }

  @inline(__always)
  var isContainer: Bool { bits >> 60 & 7 < 2 }

  /// Of a string, that it has escapes; of a number, that it has a fraction or an exponent; of an object, that two of its
  /// keys may be the same name.
  @inline(__always)
  var flag: Bool { bits >> 63 != 0 }

  /// Where a string's characters begin, after the quote.
  @inline(__always)
  var textStart: Int { start + 1 }

  /// How many bytes are between the quotes of a string.
  @inline(__always)
  var textCount: Int { end - start - 2 }
}
