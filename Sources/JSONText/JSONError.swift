/// Why a text is not JSON, and where (RFC 8259).
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong; a struct, so that a new kind breaks no `switch`.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name in words.
    public let rawValue: String

    /// A kind of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name in words.
    public var description: String { rawValue }

    /// There is nothing but white space.
    public static let empty = Kind(rawValue: "there is no JSON, the text is empty")
    /// The text ends inside a value.
    public static let unexpectedEnd = Kind(rawValue: "the text ends before the JSON is complete")
    /// A byte that cannot stand here.
    public static let unexpectedCharacter = Kind(rawValue: "unexpected character")
    /// Something follows after the value.
    public static let trailingContent = Kind(rawValue: "there is more text after the JSON value")
    /// A number outside the grammar of RFC 8259 §6: `01`, `+1`, `.5`, `1.`, `NaN`.
    public static let invalidNumber = Kind(rawValue: "malformed number")
    /// A backslash with something after it that RFC 8259 §7 does not know.
    public static let invalidEscape = Kind(rawValue: "malformed escape sequence")
    /// `\uD800`–`\uDFFF` without its other half: no Unicode character.
    public static let loneSurrogate = Kind(rawValue: "half of a surrogate pair")
    /// A byte below 0x20 in a string; it must be escaped (RFC 8259 §7).
    public static let controlCharacter = Kind(rawValue: "unescaped control character in a string")
    /// Bytes that are not UTF-8 (RFC 3629): overlong, cut short, a surrogate, beyond U+10FFFF.
    public static let invalidUTF8 = Kind(rawValue: "the bytes are not UTF-8")
    /// Bytes that begin as UTF-16 or UTF-32 and are not: half of a surrogate pair, beyond U+10FFFF, cut short.
    public static let invalidUnicode = Kind(rawValue: "the bytes are not the UTF-16 or UTF-32 that they begin as")
    /// 1 GB or more.
    public static let tooLong = Kind(rawValue: "the text is longer than 1 GB")
    /// More than ``JSON/maximumDepth`` levels.
    public static let tooDeep = Kind(rawValue: "nested deeper than 512 levels")
  }

  /// What is wrong.
  public let kind: Kind
  /// Where, in bytes from the start of the text; of a text in UTF-16 or UTF-32, as it is in UTF-8.
  public let offset: Int
  /// The offending byte, where one byte is to blame.
  public let byte: UInt8?

  init(_ kind: Kind, at offset: Int, byte: UInt8? = nil) {
    self.kind = kind
    self.offset = offset
    self.byte = byte
  }

  /// Kind, byte and offset on one line.
  public var description: String {
    var text = kind.rawValue
    if let byte {
      text += byte > 0x20 && byte < 0x7F ? " '\(Character(UnicodeScalar(byte)))'" : " 0x\(String(byte, radix: 16))"
    }
    return text + " at byte \(offset)"
  }
}
