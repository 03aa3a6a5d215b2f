import PortableFoundation

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// Creates an object with the members of the literal, in order; of duplicate keys, the first is read.
  /// A value with duplicate keys can't be sent.
  ///
  /// The result is missing if it exceeds 512 levels, including the levels of nested values.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(
      written: "{" + elements.map { "\(JSON.quoted($0.0)):\($0.1.orNull)" }.joined(separator: ",") + "}")
  }

  /// Creates an array of the elements.
  ///
  /// The result is missing if it exceeds 512 levels, including the levels of nested values.
  public init(arrayLiteral elements: JSON...) {
    self.init(written: "[" + elements.map(\.orNull).joined(separator: ",") + "]")
  }

  /// Creates a string.
  public init(stringLiteral value: String) { self.init(written: JSON.quoted(value)) }

  /// Creates a number.
  public init(integerLiteral value: Int) { self.init(written: String(value)) }

  /// Creates a number, or `null` if `value` is not finite, because JSON cannot represent such numbers.
  public init(floatLiteral value: Double) { self.init(written: value.isFinite ? value.description : "null") }

  /// Creates `true` or `false`.
  public init(booleanLiteral value: Bool) { self.init(written: value ? "true" : "false") }

  /// Creates `null`.
  public init(nilLiteral: ()) { self.init(written: "null") }

  /// Creates a string.
  public init(_ value: String) { self.init(stringLiteral: value) }

  /// Creates a number.
  public init(_ value: Int) { self.init(integerLiteral: value) }

  /// Creates a number, or `null` if `value` is not finite, because JSON cannot represent such numbers.
  public init(_ value: Double) { self.init(floatLiteral: value) }

  /// Creates `true` or `false`.
  public init(_ value: Bool) { self.init(booleanLiteral: value) }

  /// Creates an array; missing elements become `null`.
  public init(_ elements: [JSON]) { self.init(written: "[" + elements.map(\.orNull).joined(separator: ",") + "]") }

  /// Creates an object, whose members are sorted by name; missing values become `null`.
  public init(_ members: [String: JSON]) {
    let members = members.sorted { $0.key < $1.key }.map { "\(JSON.quoted($0.key)):\($0.value.orNull)" }
    self.init(written: "{" + members.joined(separator: ",") + "}")
  }

  var orNull: String { exists ? description : "null" }

  /// Creates a value from text that this module has generated.
  init(written text: String) { self = (try? JSON(parsing: text)) ?? Self.nothing }

  // Generated text is always valid, except beyond the depth limit; then the value is missing.
  private static let nothing = JSON(document: JSONDocument.empty, position: nil)
}

extension JSON {
  /// Returns the string as a JSON string literal, escaping only the characters that must be escaped.
  package static func quoted(_ string: String) -> String {
    var text: [UInt8] = []
    quote(string, into: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the string as a JSON string literal. Runs of bytes that need no escapes are copied as a whole.
  package static func quote(_ string: String, into text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { bytes in
      var start = 0
      for index in 0..<bytes.count {
        let byte = bytes[index]
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
        text.append(contentsOf: bytes[start..<index])
        start = index + 1
        text.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: text.append(UInt8(ascii: "b"))
        case 0x09: text.append(UInt8(ascii: "t"))
        case 0x0A: text.append(UInt8(ascii: "n"))
        case 0x0C: text.append(UInt8(ascii: "f"))
        case 0x0D: text.append(UInt8(ascii: "r"))
        case ..<0x20: text.append(contentsOf: "u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
        default: text.append(byte)
        }
      }
      text.append(contentsOf: bytes[start...])
    }
    text.append(UInt8(ascii: "\""))
  }
}
