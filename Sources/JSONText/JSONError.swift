/// An error that describes why a text is not valid JSON (RFC 8259), and the offset of the first invalid byte.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error; a struct, so that new kinds do not break `switch` statements.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The description of the kind.
    public let rawValue: String

    /// Creates a custom kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The description of the kind.
    public var description: String { rawValue }

    /// The text is empty or contains only whitespace.
    public static let empty = Kind(rawValue: "the text is empty")
    /// The text ends inside a value.
    public static let unexpectedEnd = Kind(rawValue: "the text ends before the JSON value is complete")
    /// A byte is not allowed at its position.
    public static let unexpectedCharacter = Kind(rawValue: "unexpected character")
    /// There is more text after the value.
    public static let trailingContent = Kind(rawValue: "unexpected text after the JSON value")
    /// A number violates the grammar of RFC 8259 §6: `01`, `+1`, `.5`, `1.`, `NaN`.
    public static let invalidNumber = Kind(rawValue: "malformed number")
    /// A backslash is followed by a character that RFC 8259 §7 does not allow.
    public static let invalidEscape = Kind(rawValue: "malformed escape sequence")
    /// A surrogate, `\uD800`–`\uDFFF`, lacks its other half and is therefore not a Unicode character.
    public static let loneSurrogate = Kind(rawValue: "unpaired surrogate")
    /// A string contains an unescaped byte below 0x20 (RFC 8259 §7).
    public static let controlCharacter = Kind(rawValue: "unescaped control character in a string")
    /// The bytes are not valid UTF-8 (RFC 3629): overlong, truncated, a surrogate, or beyond U+10FFFF.
    public static let invalidUTF8 = Kind(rawValue: "invalid UTF-8 byte")
    /// The bytes are detected as UTF-16 or UTF-32 but are invalid: an unpaired surrogate, beyond U+10FFFF, or
    /// truncated.
    public static let invalidUnicode = Kind(rawValue: "invalid UTF-16 or UTF-32")
    /// The text is 1 GB or longer.
    public static let tooLong = Kind(rawValue: "the text is 1 GB or longer")
    /// The value has more than 512 nested levels.
    public static let tooDeep = Kind(rawValue: "nested deeper than 512 levels")
  }

  /// The kind of the error.
  public let kind: Kind
  /// The offset of the error in bytes from the start of the text; for UTF-16 and UTF-32, in the text converted to
  /// UTF-8.
  public let offset: Int
  /// The invalid byte, if a single byte causes the error.
  let byte: UInt8?

  init(_ kind: Kind, at offset: Int, byte: UInt8? = nil) {
    self.kind = kind
    self.offset = offset
    self.byte = byte
  }

  /// The kind, byte and offset on one line.
  public var description: String {
    var text = kind.rawValue
    if let byte {
      text += byte > 0x20 && byte < 0x7F ? " '\(Character(UnicodeScalar(byte)))'" : " 0x\(String(byte, radix: 16))"
    }
    return text + " at byte \(offset)"
  }
}
