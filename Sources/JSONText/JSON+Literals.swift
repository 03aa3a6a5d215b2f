import PortableFoundation

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// Creates an object with the members of the literal, in order; of duplicate keys, the first is used.
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

  /// The text of this value, or `null` if it is missing.
  var orNull: String { exists ? description : "null" }

  /// Creates a value from text that this module has generated.
  init(written text: String) { self = (try? JSON(parsing: text)) ?? Self.nothing }

  // Generated text is always valid, except beyond the depth limit; then the value is missing.
  private static let nothing = JSON(document: JSONDocument.empty, position: nil)
}

extension JSON {
  /// Returns the string as a JSON string literal, escaping only the characters that must be escaped.
  package static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{8}": text += "\\b"
      case "\u{C}": text += "\\f"
      case ..<" ": text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
