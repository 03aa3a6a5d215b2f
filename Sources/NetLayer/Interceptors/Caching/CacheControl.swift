import PortableFoundation

/// The directives of a `Cache-Control` field in a request or a response (RFC 9111 §5.2).
struct CacheControl: Sendable, Equatable {
  private var directives: [String: String] = [:]

  /// Parses the directives in `headers`. The first of several equal directives is used (RFC 9111 §4.2.1).
  init(_ headers: HTTPHeaders) {
    guard let text = headers["Cache-Control"] else { return }
    for part in Self.list(text) {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = pair[0].withoutBlanks.lowercased()
      guard !name.isEmpty, directives[name] == nil else { continue }
      let value = pair.count == 2 ? pair[1].withoutBlanks : ""
      directives[name] = value.count > 1 && value.hasPrefix("\"") ? String(value.dropFirst().dropLast()) : String(value)
    }
  }

  func has(_ name: String) -> Bool { directives[name] != nil }

  /// Returns the argument in seconds, or `nil` if the directive is missing. An invalid number is 0, so that the
  /// response counts as stale (RFC 9111 §4.2.1). A larger number is 2³¹ (§1.2.2).
  func seconds(_ name: String) -> Double? {
    guard let text = directives[name] else { return nil }
    guard text.isDigits else { return 0 }
    return min(Double(text) ?? 0, 2_147_483_648)
  }

  /// The maximum staleness in seconds that the request accepts; infinite for a `max-stale` without argument (RFC 9111
  /// §5.2.1.2).
  var maxStale: Double? { directives["max-stale"] == "" ? .infinity : seconds("max-stale") }

  /// Returns the members of a list, split at commas outside quotes (RFC 9110 §5.6.1).
  static func list(_ text: String) -> [Substring] { text[...].unquotedParts(separator: ",").filter { !$0.isEmpty } }
}
