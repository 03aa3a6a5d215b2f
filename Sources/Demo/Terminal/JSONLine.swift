import NetLayer
import PortableFoundation

/// A JSON object on one line, with its members in the order of their addition.
struct JSONLine {
  private var members = ""

  /// The object, without a line break or another control character.
  var text: String { Self.escaped("{\(members)}") }

  /// Returns JSON without whitespace between its tokens, with the control characters in its strings escaped. JSON allows
  /// some of them, such as U+009B, but a terminal executes them.
  static func escaped(_ json: String) -> String {
    json.escapingControls { scalar in
      let digits = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  /// Adds a member whose value is JSON text.
  func adding(_ name: String, json: String) -> JSONLine {
    var copy = self
    copy.members += (members.isEmpty ? "" : ",") + "\(Self.quoted(name)):\(json)"
    return copy
  }

  func adding(_ name: String, _ value: Int?) -> JSONLine { adding(name, json: value.map(String.init) ?? "null") }

  /// Adds a number with at most three decimal places.
  func adding(_ name: String, _ value: Double) -> JSONLine {
    adding(name, json: "\((value * 1000).rounded() / 1000)")
  }

  func adding(_ name: String, _ value: String?) -> JSONLine { adding(name, json: value.map(Self.quoted) ?? "null") }

  func adding(_ name: String, _ value: JSONLine) -> JSONLine { adding(name, json: value.text) }

  static func array(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ","))]" }

  private static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}
