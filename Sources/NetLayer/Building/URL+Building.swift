import PortableFoundation

extension URL {
  /// Returns the URL with `text` added to its query, before its fragment, which is never sent. Escapes in `text` stay, and
  /// bytes that a URL can't contain are escaped.
  func appending(queryText text: String) throws -> URL {
    guard !text.isEmpty else { return self }
    var whole = absoluteString
    var fragment = ""
    // Searches contiguous bytes, because many calls run this code, and other searches take several times as long.
    if whole.withUTF8({ $0.contains(UInt8(ascii: "#")) }), let hash = whole.utf8.firstIndex(of: UInt8(ascii: "#")) {
      fragment = String(whole[hash...])
      whole = String(whole[..<hash])
    }
    let separator = whole.withUTF8 { bytes in
      guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return "?" }
      return mark == bytes.count - 1 || bytes.last == UInt8(ascii: "&") ? "" : "&"
    }
    whole += separator
    whole += text
    whole += fragment
    guard let url = URL(text: whole) else {
      throw NetworkError(
        kind: .invalidRequest, reason: "invalid URL \(whole.debugDescription); check its percent-encoding")
    }
    return url
  }

  /// Returns `path` relative to this URL, joined with exactly one slash. This URL's own path and query are kept.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if the path contains `..`, a query, a fragment or a line break.
  func appending(safePath path: String) throws -> URL {
    guard !path.isEmpty else { return self }
    var plain = path
    if !URLPath.isPlain(path) {
      try URLPath.check(path)
      plain = URLPath.withoutDots(path)
    }
    let text = URLStem(self).text(joining: plain)
    guard let url = URL(text: text) else {
      throw NetworkError(
        kind: .invalidRequest, reason: "invalid URL \(text.debugDescription); check its percent-encoding")
    }
    return url
  }
}

extension String {
  /// Returns the URL or path without the query pairs of these names.
  func withoutQueryPairs(of names: [String]) -> String {
    let parts = split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return self }
    let end = parts[1].firstIndex(of: "#") ?? parts[1].endIndex
    let left = parts[1][..<end].split(separator: "&").filter { pair in
      let name = String(pair.prefix { $0 != "=" })
      return !names.contains(name.decodingPercent ?? name)
    }
    return String(parts[0]) + (left.isEmpty ? "" : "?") + left.joined(separator: "&") + String(parts[1][end...])
  }
}

extension URL {
  func withoutQueryPairs(of names: [String]) -> URL {
    URL(text: absoluteString.withoutQueryPairs(of: names)) ?? self
  }

  var queryPairs: [(name: String, value: String)] {
    // Most URLs have no query, and parsing a URL is slow.
    guard absoluteString.utf8.contains(UInt8(ascii: "?")) else { return [] }
    return (URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
  }
}

enum URLPath {
  /// Returns whether the path is plain, as most are: nothing to reject, remove or encode.
  static func isPlain(_ path: String) -> Bool {
    var last = UInt8(ascii: "/")
    for byte in path.utf8 {
      // A component that starts with a dot may be `.` or `..`.
      if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return false }
      guard PercentEncoding.path(byte) else { return false }
      last = byte
    }
    return true
  }

  /// Checks a path without a query.
  static func check(_ path: String) throws {
    if let bad = path.unicodeScalars.first(where: { $0 == "?" || $0 == "#" }) {
      throw refused(path, "contains '\(bad)'; escape components with urlEscaped")
    }
    try checkControls(path)
    try checkClimbing(path)
  }

  static func checkQuery(_ query: String, of path: String) throws {
    if query.utf8.contains(UInt8(ascii: "#")) { throw refused(path, "contains '#'; escape components with urlEscaped") }
    try checkControls(path)
  }

  static func checkControls(_ text: String) throws {
    if let bad = text.unicodeScalars.first(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw refused(text, "contains the control character 0x\(String(bad.value, radix: 16)); remove it")
    }
  }

  static func checkClimbing(_ path: String) throws {
    // Compares bytes, because a combining mark after a slash would hide it from a comparison of characters. Servers and
    // clients that follow the WHATWG URL rules also split at a backslash. Servers that decode before they resolve also
    // split at escapes.
    let hasEscapes = path.utf8.contains(UInt8(ascii: "%"))
    if hasEscapes ? climbs(decodingDotsAndSlashes(of: path)) : climbs(path.utf8) {
      throw refused(path, "contains the component '..'; remove it")
    }
  }

  private static func climbs(_ path: some Collection<UInt8>) -> Bool {
    guard zip(path, path.dropFirst()).contains(where: { $0 == UInt8(ascii: ".") && $1 == $0 }) else { return false }
    return path.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
      .contains { $0.elementsEqual("..".utf8) }
  }

  private static func decodingDotsAndSlashes(of path: String) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = path.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16),
        "/\\.".utf8.contains(value), rest.first != UInt8(ascii: "+")
      else {
        decoded.append(byte)
        continue
      }
      decoded.append(value)
      rest.removeFirst(2)
    }
    return decoded
  }

  /// Returns the path without `.` components, including percent-encoded ones (RFC 3986 §5.2.4).
  static func withoutDots(_ path: String) -> String {
    // Most paths have none.
    guard path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return path }
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    func isDot(_ part: Substring) -> Bool { part == "." || part == "%2e" || part == "%2E" }
    guard let last = parts.last, parts.contains(where: isDot) else { return path }
    return (parts.filter { !isDot($0) } + (isDot(last) ? [""] : [])).joined(separator: "/")
  }

  static func withoutDots(url: String) -> String {
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
    let head = url[..<end]
    guard let slashes = head.utf8.firstIndex(of: UInt8(ascii: "/")),
      let start = head.utf8[slashes...].dropFirst(2).firstIndex(of: UInt8(ascii: "/"))
    else { return url }
    return url[..<start] + withoutDots(String(url[start..<end])) + url[end...]
  }

  private static func refused(_ path: String, _ why: String) -> NetworkError {
    // `debugDescription` escapes line breaks in the path, which would break the line of the message.
    NetworkError(kind: .invalidRequest, reason: "the path \(path.debugDescription) \(why)")
  }
}

extension URL {
  /// The same URL with `http` instead of `ws`, and `https` instead of `wss`.
  var overHTTP: URL { Self.overHTTP(absoluteString).flatMap { URL(text: $0) } ?? self }

  /// Returns the URL with `http` or `https`, or `nil` for any other scheme.
  static func overHTTP(_ url: String) -> String? {
    let scheme = url.prefix(6).lowercased()
    if scheme.hasPrefix("wss://") { return "https" + url.dropFirst(3) }
    if scheme.hasPrefix("ws://") { return "http" + url.dropFirst(2) }
    return nil
  }
}
