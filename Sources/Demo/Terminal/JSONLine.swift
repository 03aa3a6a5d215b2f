import PortableFoundation

/// An object of JSON on one line, its members in the order in which they were added.
struct JSONLine {
  private var members = ""

  /// The object, without the line's end.
  var text: String { "{\(members)}" }

  /// Adds what is JSON already.
  func adding(_ name: String, json: String) -> JSONLine {
    var copy = self
    copy.members += (members.isEmpty ? "" : ",") + "\(Self.quoted(name)):\(json)"
    return copy
  }

  func adding(_ name: String, _ value: Int?) -> JSONLine { adding(name, json: value.map(String.init) ?? "null") }

  /// A number with at most three digits behind the point.
  func adding(_ name: String, _ value: Double) -> JSONLine {
    adding(name, json: "\((value * 1000).rounded() / 1000)")
  }

  func adding(_ name: String, _ value: String?) -> JSONLine { adding(name, json: value.map(Self.quoted) ?? "null") }

  func adding(_ name: String, _ value: JSONLine) -> JSONLine { adding(name, json: value.text) }

  /// An array of texts.
  static func array(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ","))]" }

  private static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}
