/// A media type with its parameters, such as the value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType {
  /// The type, then each parameter, in their original spelling without surrounding whitespace.
  package let parts: [Substring]

  /// Parses `text`, split at the semicolons outside quoted strings.
  package init(_ text: String) { parts = text[...].unquotedParts(separator: ";") }

  /// The type and subtype, in lowercase and without parameters: `text/plain`.
  package var essence: String { parts.first.map { $0.withoutBlanks.lowercased() } ?? "" }

  /// Returns the value of the first parameter called `name`, which is in lowercase, without quotes and escapes.
  package func parameter(_ name: String) -> String? {
    guard let part = parts.dropFirst().first(where: { Self.name($0) == name }) else { return nil }
    let value = part.drop { $0 != "=" }.dropFirst().withoutBlanks
    guard value.first == "\"" else { return String(value) }
    var plain = ""
    var isEscaped = false
    for character in value.dropFirst() {
      if !isEscaped, character == "\"" { break }
      isEscaped = !isEscaped && character == "\\"
      if !isEscaped { plain.append(character) }
    }
    return plain
  }

  package static func name(_ part: Substring) -> String { part.prefix { $0 != "=" }.withoutBlanks.lowercased() }
}

extension Optional<String> {
  /// The text, or `nil` if it is empty.
  package var unlessEmpty: String? { self?.isEmpty == true ? nil : self }
}
