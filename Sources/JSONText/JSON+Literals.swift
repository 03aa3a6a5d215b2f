import PortableFoundation

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// An object with the members of the literal, in its order; of a key that comes twice, the first counts.
  ///
  /// One of more than ``JSON/maximumDepth`` levels, values put into it included, can't be: it does not exist.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(
      written: "{" + elements.map { "\(JSON.quoted($0.0)):\($0.1.orNull)" }.joined(separator: ",") + "}")
  }

  /// An array of the elements.
  ///
  /// One of more than ``JSON/maximumDepth`` levels, values put into it included, can't be: it does not exist.
  public init(arrayLiteral elements: JSON...) {
    self.init(written: "[" + elements.map(\.orNull).joined(separator: ",") + "]")
  }

  /// A string.
  public init(stringLiteral value: String) { self.init(written: JSON.quoted(value)) }

  /// A number.
  public init(integerLiteral value: Int) { self.init(written: String(value)) }

  /// A number; `null` for one that is not finite, as JSON has none.
  public init(floatLiteral value: Double) { self.init(written: value.isFinite ? value.description : "null") }

  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self.init(written: value ? "true" : "false") }

  /// `null`
  public init(nilLiteral: ()) { self.init(written: "null") }

  /// The text of this value; of none, `null`.
  var orNull: String { exists ? description : "null" }

  /// Takes text that was written here.
  init(written text: String) { self = (try? JSON(parsing: text)) ?? Self.nothing }

  // What is written here is valid, except beyond the depth limit; then there is no value.
  private static let nothing = JSON(document: JSONDocument.empty, position: nil)
}

extension JSON {
  /// The string with its quotes; everything that need not be escaped stands as it is.
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
