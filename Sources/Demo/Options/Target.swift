import NetLayer
import PortableFoundation

enum Target {
  /// Returns an absolute http or https URL. A text without a scheme, such as `localhost:8080/x`, is an http URL.
  ///
  /// - Throws: `UsageError` for any other text.
  static func url(_ text: String) throws -> URL {
    let hasScheme = text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil
    guard let url = URL(text: hasScheme ? text : "http://" + text), let scheme = url.scheme?.lowercased() else {
      throw UsageError("\(text.debugDescription) is not a valid URL; write a host and a path, as in example.com/path")
    }
    guard scheme == "http" || scheme == "https" else {
      throw UsageError("\(text.debugDescription) has the scheme \(scheme); use http or https")
    }
    guard let host = url.host(), !host.isEmpty else { throw UsageError("\(text.debugDescription) has no host") }
    return url
  }

  /// Returns the text of a URL without a user and a password, which must not reach the output.
  static func shown(_ text: String) -> String {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    guard let at = text[start..<end].lastIndex(of: "@") else { return text }
    return String(text[..<start] + text[text.index(after: at)...])
  }
}

extension URL {
  /// Returns the URL with `value` as the only query item called `name`.
  func replacingQueryItem(_ name: String, with value: String) -> URL? {
    guard var components = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return nil }
    // Encoded like the parameters of the library, because URLComponents would not escape a plus sign.
    let added = try? URLParameterEncoder(destination: .query).text(of: [name: value])
    let kept = (components.percentEncodedQueryItems ?? []).filter { $0.name.decodingPercent != name }
    components.percentEncodedQueryItems = kept.isEmpty ? nil : kept
    components.percentEncodedQuery = [components.percentEncodedQuery, added].compactMap { $0 }.joined(separator: "&")
    return components.url
  }
}

extension Envelope {
  /// Reads `code,message,data[,cursor]`, where the code may include the value of a success: `status=0`.
  init(commandLine text: String) throws {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard (3...4).contains(names.count), names.allSatisfy({ !$0.isEmpty }) else {
      throw UsageError("the envelope \(text.debugDescription) is not of the form code,message,data[,cursor]")
    }
    let code = names[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let success: Success =
      switch code.dropFirst().first {
      case nil: 200
      case "true": true
      case "false": false
      case let word?: Int(word).map { .init(integerLiteral: $0) } ?? .init(stringLiteral: word)
      }
    self.init(
      code: code[0], success: success, message: names[1], data: names[2], cursor: names.count == 4 ? names[3] : "cursor"
    )
  }
}
