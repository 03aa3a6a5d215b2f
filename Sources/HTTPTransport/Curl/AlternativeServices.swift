#if canImport(CCurl)
  /// What Alt-Svc fields say (RFC 7838 §3), as far as it is used: whether an origin offers HTTP/3 itself.
  enum AlternativeServices {
    /// A day (RFC 7838 §3.1).
    private static let usualAge = 86_400.0
    /// A year: more passes for a mistake.
    private static let longestAge = 31_536_000.0

    /// For how many seconds HTTP/3 is offered at the origin's own host and `port`; 0 if it is not, or no longer.
    ///
    /// What is not valid is left out. Services at other hosts and ports are not used.
    static func http3Seconds(_ fields: [String], port: Int) -> Double {
      for entry in fields.flatMap({ split($0, at: ",") }) {
        let parts = split(entry, at: ";")
        guard let first = parts.first, let age = age(parts.dropFirst()) else { continue }
        if first == "h3=\":\(port)\"" { return age }
      }
      return 0
    }

    private static func age(_ parameters: ArraySlice<String>) -> Double? {
      guard let text = parameters.first(where: { $0.lowercased().hasPrefix("ma=") })?.dropFirst(3) else {
        return usualAge
      }
      let digits = text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1 ? text.dropFirst().dropLast() : text
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Swift.min(Double(digits) ?? longestAge, longestAge)
    }

    /// The parts between separators that are not quoted, without the blanks around them.
    private static func split(_ text: String, at separator: Character) -> [String] {
      var (parts, part, isQuoted) = ([String](), "", false)
      for character in text {
        if character == "\"" { isQuoted.toggle() }
        if character == separator, !isQuoted {
          parts.append(part)
          part = ""
        } else if part.isEmpty, character == " " || character == "\t" {
          continue
        } else {
          part.append(character)
        }
      }
      return (parts + [part]).map { part in
        String(part.prefix(part.count - part.reversed().prefix { $0 == " " || $0 == "\t" }.count))
      }
    }
  }
#endif
