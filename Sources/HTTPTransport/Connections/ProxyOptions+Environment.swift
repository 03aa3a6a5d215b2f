import PortableFoundation

extension ProxyOptions {
  /// The variables that libcurl reads, in its order: of two spellings, the first one that is not empty.
  private static let variables = [["http_proxy"], ["https_proxy", "HTTPS_PROXY"], ["all_proxy", "ALL_PROXY"]]

  /// Returns the variables of requests with `https` or `http`, the first that is not empty taking precedence.
  static func variables(isSecure: Bool) -> [String] { variables[isSecure ? 1 : 0] + variables[2] }

  /// libcurl also supports SOCKS 4, which `.url` does not.
  private static let environmentSchemes: Set = ["http", "https", "socks5", "socks5h", "socks", "socks4", "socks4a"]

  /// Returns the error of a variable that libcurl would reject, because libcurl's text quotes the value with its
  /// password. The error names the variable only.
  static func failure(of environment: [String: String]) -> NetworkError? {
    for names in variables {
      guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let value = environment[name] else {
        continue
      }
      if let failure = failure(of: value, in: "the variable \(name)") { return failure }
    }
    return nil
  }

  /// Returns the error of the text of a proxy's URL that libcurl would reject or ignore.
  static func failure(of text: String, in place: String) -> NetworkError? {
    credentialsFailure(text, place)
      ?? remedy(for: text).map {
        NetworkError(kind: .invalidRequest, reason: "the URL of the proxy in \(place) is not valid; \($0)")
      }
  }

  /// Returns how to correct the text of a proxy's URL, without a part of the text; `nil` if it is valid. The scheme may
  /// be missing.
  private static func remedy(for text: String) -> String? {
    let quotes: Set<Character> = ["\"", "'"]
    if text.utf8.contains(where: { $0 == 0x20 }) || text.first.map(quotes.contains) == true
      || text.last.map(quotes.contains) == true
    {
      return "remove the quotes and spaces around it, and encode a space in it as %20"
    }
    let scheme = text.firstRange(of: "://")
    if let scheme, !environmentSchemes.contains(text[..<scheme.lowerBound].lowercased()) {
      return "use the scheme http, https, socks5 or socks5h"
    }
    let rest = text[(scheme?.upperBound ?? text.startIndex)...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let place = authority.split(separator: "@", omittingEmptySubsequences: false)
    guard place.count <= 2, !rest[authority.endIndex...].contains("@") else {
      return "percent-encode the characters @ / ? # in its user and password"
    }
    let hostAndPort = place[place.count - 1]
    let isLiteral = hostAndPort.hasPrefix("[")
    let host = isLiteral ? hostAndPort.prefix { $0 != "]" } : hostAndPort.prefix { $0 != ":" }
    guard host.count > (isLiteral ? 1 : 0) else { return "add a host" }
    let port = hostAndPort[host.endIndex...].drop { $0 == "]" }.dropFirst()
    return port.isEmpty || Int(digits: port).map((1...65535).contains) == true ? nil : "use a port from 1 to 65535"
  }

  /// Returns a text of libcurl without a proxy's user and password: libcurl quotes the proxy's URL in some texts, or a
  /// part of it if the password contains reserved characters.
  static func withoutCredentials(_ text: String) -> String {
    guard
      let end = text.lastIndex(of: "@") ?? (text.hasPrefix("Unsupported proxy") ? text.lastIndex(of: "'") : nil)
    else { return text }
    let shown = text[..<end]
    let start = ["'", "\"", "://", ": "].compactMap { shown.firstRange(of: $0)?.upperBound }.min() ?? text.startIndex
    return "\(text[..<start])\(Redaction.standard.placeholder)\(text[end...])"
  }
}
