extension StringProtocol {
  /// Returns the text on one line, with the characters that control a terminal or the order of a line in visible form:
  /// `\n`, `\r`, `\t`, or the code as in Swift, `\u{1B}`. They come from servers, and could otherwise add lines to a log
  /// or change what a terminal shows. Backslashes are not doubled, so that quoted JSON remains readable.
  package func escapingControls(
    except kept: Unicode.Scalar? = nil, as form: (Unicode.Scalar) -> String = \.visibleForm
  ) -> String {
    guard unicodeScalars.contains(where: { $0.isControl && $0 != kept }) else { return String(self) }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isControl, scalar != kept { text += form(scalar) } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension Unicode.Scalar {
  /// Whether this is a C0 or C1 control, DEL, a line or paragraph separator, or a bidirectional control (Unicode
  /// Standard Annex #9 §2).
  package var isControl: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var visibleForm: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(value, radix: 16, uppercase: true))}"
    }
  }
}
