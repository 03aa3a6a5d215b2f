import PortableFoundation

extension URL {
  /// The URL with `text`, encoded already, behind its query and in front of its fragment, which is never sent.
  func appending(queryText text: String) throws -> URL {
    guard !text.isEmpty else { return self }
    var whole = absoluteString
    var fragment = ""
    if let hash = whole.firstIndex(of: "#") {
      fragment = String(whole[hash...])
      whole = String(whole[..<hash])
    }
    if let mark = whole.firstIndex(of: "?") {
      let isOpen = whole.index(after: mark) == whole.endIndex || whole.hasSuffix("&")
      whole += isOpen ? text : "&" + text
    } else {
      whole += "?" + text
    }
    whole += fragment
    guard let url = URL(string: whole) else {
      throw NetworkError(kind: .invalidRequest, reason: "no URL: \(whole)")
    }
    return url
  }

  /// `path` below this URL, with exactly one slash between them; this URL's own path and query stay.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if the path would climb (`..`), begin a query or a fragment, or
  ///   break a line.
  func appending(safePath path: String) throws -> URL {
    guard !path.isEmpty else { return self }
    var base = absoluteString
    // By bytes, as every call comes this way.
    if let hash = base.utf8.firstIndex(of: UInt8(ascii: "#")) { base = String(base[..<hash]) }
    var query = ""
    if let mark = base.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = String(base[mark...])
      base = String(base[..<mark])
    }
    while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
    var encoded = path
    if !URLPath.isPlain(path) {
      try URLPath.check(path)
      encoded = PercentEncoding.encode(
        URLPath.withoutDots(path), keeping: PercentEncoding.path, keepingEscapes: true)
    }
    encoded = String(Substring(encoded.utf8.drop { $0 == UInt8(ascii: "/") }))
    guard let url = URL(string: base + "/" + encoded + query) else {
      throw NetworkError(kind: .invalidRequest, reason: "no URL: \(base)/\(encoded)\(query)")
    }
    return url
  }
}

extension String {
  /// The text of a URL or path without the pairs of these names in its query.
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
  /// The URL without the pairs of these names in its query.
  func withoutQueryPairs(of names: [String]) -> URL {
    URL(string: absoluteString.withoutQueryPairs(of: names)) ?? self
  }

  /// The names and values of the query, decoded, in its order.
  var queryPairs: [(name: String, value: String)] {
    // Most have none, and taking a URL apart is slow.
    guard absoluteString.utf8.contains(UInt8(ascii: "?")) else { return [] }
    return (URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
  }
}

/// What a path must not do, whoever wrote it.
enum URLPath {
  /// Whether the path is what most are: nothing to refuse, to leave out or to encode. One pass, where the checks take
  /// several.
  static func isPlain(_ path: String) -> Bool {
    var last = UInt8(ascii: "/")
    for byte in path.utf8 {
      // A component that begins with a dot may be one of those that climb or stay.
      if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return false }
      guard PercentEncoding.path(byte) else { return false }
      last = byte
    }
    return true
  }

  /// - Throws: `NetworkError` of kind `invalidRequest` that names the path.
  static func check(_ path: String) throws {
    if let bad = path.unicodeScalars.first(where: { $0 == "?" || $0 == "#" }) {
      throw refused(path, "has a '\(bad)'; escape components with urlEscaped")
    }
    try checkControls(path)
    try checkClimbing(path)
  }

  /// - Throws: `NetworkError` of kind `invalidRequest` that names the path that `query` is part of.
  static func checkQuery(_ query: String, of path: String) throws {
    if query.utf8.contains(UInt8(ascii: "#")) { throw refused(path, "has a '#'; escape components with urlEscaped") }
    try checkControls(path)
  }

  static func checkControls(_ text: String) throws {
    if let bad = text.unicodeScalars.first(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw refused(text, "has the control character 0x\(String(bad.value, radix: 16))")
    }
  }

  static func checkClimbing(_ path: String) throws {
    // By bytes: a combining mark behind a slash would hide it from a comparison of characters. A backslash separates, too,
    // for servers and clients that follow the WHATWG's URL rules, and so do escapes for servers that decode before they
    // resolve.
    let hasEscapes = path.utf8.contains(UInt8(ascii: "%"))
    if hasEscapes ? climbs(decodingDotsAndSlashes(of: path)) : climbs(path.utf8) {
      throw refused(path, "climbs with '..'")
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

  /// The path without components that say "here": `.`, also percent-encoded (RFC 3986 §5.2.4).
  static func withoutDots(_ path: String) -> String {
    // Most paths have none.
    guard path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return path }
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    func isDot(_ part: Substring) -> Bool { part == "." || part == "%2e" || part == "%2E" }
    guard let last = parts.last, parts.contains(where: isDot) else { return path }
    return (parts.filter { !isDot($0) } + (isDot(last) ? [""] : [])).joined(separator: "/")
  }

  /// The same for the path of an absolute URL.
  static func withoutDots(url: String) -> String {
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
    let head = url[..<end]
    guard let slashes = head.utf8.firstIndex(of: UInt8(ascii: "/")),
      let start = head.utf8[slashes...].dropFirst(2).firstIndex(of: UInt8(ascii: "/"))
    else { return url }
    return url[..<start] + withoutDots(String(url[start..<end])) + url[end...]
  }

  private static func refused(_ path: String, _ why: String) -> NetworkError {
    // Quoted by debugDescription: a line break in it must not break the message's line.
    NetworkError(kind: .invalidRequest, reason: "the path \(path.debugDescription) \(why)")
  }
}
