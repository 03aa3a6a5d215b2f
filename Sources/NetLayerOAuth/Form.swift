import PortableFoundation

/// Forms and queries (`application/x-www-form-urlencoded`, RFC 6749 App. B).
enum Form {
  static let mediaType = "application/x-www-form-urlencoded"

  /// Returns the pairs, sorted by name.
  static func text(_ parameters: [String: String]) -> String {
    parameters.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }.joined(separator: "&")
  }

  /// Returns `text` as a name or a value, in which a space is `+`.
  static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = byte.isUnreserved && byte != UInt8(ascii: "~") || byte == UInt8(ascii: "*")
      if isPlain { return String(Unicode.Scalar(byte)) }
      return byte == UInt8(ascii: " ") ? "+" : "%\(byte.hex(digits: 2).uppercased())"
    }.joined()
  }

  /// Returns the parameters of `text` that have a value; `nil` if one is malformed or occurs twice (RFC 6749 §3.1).
  static func parameters(of text: some StringProtocol) -> [String: String]? {
    var parameters: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts.map { String($0).replacing("+", with: " ").decodingPercent }
      guard let name = words[0], let value = words.count == 2 ? words[1] : "",
        parameters.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return parameters.filter { !$0.value.isEmpty }
  }
}
