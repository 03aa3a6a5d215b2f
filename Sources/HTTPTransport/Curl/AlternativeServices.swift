#if canImport(CCurl)
  /// A parser for Alt-Svc fields (RFC 7838 §3), which determines whether an origin itself offers HTTP/3.
  enum AlternativeServices {
    /// The default age in seconds: a day (RFC 7838 §3.1).
    private static let usualAge = 86_400.0
    /// The maximum age in seconds: a year. Larger values are treated as mistakes.
    private static let longestAge = 31_536_000.0

    /// Returns the seconds for which the origin offers HTTP/3 at its own host and `port`; 0 if it does not.
    ///
    /// Ignores invalid entries, and services at other hosts and ports.
    static func http3Seconds(_ fields: [String], port: Int) -> Double {
      for entry in fields.flatMap({ $0[...].unquotedParts(separator: ",") }) {
        let parts = entry.unquotedParts(separator: ";")
        guard let first = parts.first, let age = age(parts.dropFirst()) else { continue }
        if first == "h3=\":\(port)\"" { return age }
      }
      return 0
    }

    private static func age(_ parameters: ArraySlice<Substring>) -> Double? {
      guard let text = parameters.first(where: { $0.lowercased().hasPrefix("ma=") })?.dropFirst(3) else {
        return usualAge
      }
      let digits = text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1 ? text.dropFirst().dropLast() : text
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Swift.min(Double(digits) ?? longestAge, longestAge)
    }
  }
#endif
