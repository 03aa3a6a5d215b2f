/// A media type with its parameters, such as the value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType {
  /// The type, then each parameter, in their original spelling without surrounding blanks.
  package let pieces: [Substring]

  /// Parses `text`, split at the semicolons outside quoted strings.
  package init(_ text: String) {
    var pieces: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.utf8.indices {
      let byte = text.utf8[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ";"), !isQuoted {
        pieces.append(text[start..<index])
        start = text.utf8.index(after: index)
      }
    }
    pieces.append(text[start...])
    self.pieces = pieces.map(Self.trimmed)
  }

  /// Returns the value of the first parameter called `name`, which is in lowercase, without quotes and escapes.
  package func parameter(_ name: String) -> String? {
    guard let piece = pieces.dropFirst().first(where: { Self.name($0) == name }) else { return nil }
    let value = Self.trimmed(piece.drop { $0 != "=" }.dropFirst())
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

  /// Returns the name of a parameter, in lowercase.
  package static func name(_ piece: Substring) -> String { trimmed(piece.prefix { $0 != "=" }).lowercased() }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}

extension Optional<String> {
  /// The text, or `nil` if it is empty.
  package var unlessEmpty: String? { self?.isEmpty == true ? nil : self }
}
