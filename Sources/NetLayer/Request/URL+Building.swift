import Foundation

extension URL {
  /// The URL with `text`, encoded already, behind its query; the fragment, which is never sent, is dropped.
  func appending(queryText text: String) throws -> URL {
    guard !text.isEmpty else { return self }
    var whole = absoluteString
    if let hash = whole.firstIndex(of: "#") { whole = String(whole[..<hash]) }
    if let mark = whole.firstIndex(of: "?") {
      let isOpen = whole.index(after: mark) == whole.endIndex || whole.hasSuffix("&")
      whole += isOpen ? text : "&" + text
    } else {
      whole += "?" + text
    }
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
    try URLPath.check(path)
    var base = absoluteString
    if let hash = base.firstIndex(of: "#") { base = String(base[..<hash]) }
    var query = ""
    if let mark = base.firstIndex(of: "?") {
      query = String(base[mark...])
      base = String(base[..<mark])
    }
    while base.hasSuffix("/") { base.removeLast() }
    let below = path.drop { $0 == "/" }
    let encoded = PercentEncoding.encode(String(below), keeping: PercentEncoding.path, keepingEscapes: true)
    guard let url = URL(string: base + "/" + encoded + query) else {
      throw NetworkError(kind: .invalidRequest, reason: "no URL: \(base)/\(encoded)\(query)")
    }
    return url
  }
}

/// What a path must not do, whoever wrote it.
enum URLPath {
  /// - Throws: `NetworkError` of kind `invalidRequest` that names the path.
  static func check(_ path: String) throws {
    if let bad = path.unicodeScalars.first(where: { $0 == "?" || $0 == "#" }) {
      throw refused(path, "has a '\(bad)'; put queries into the parameters and escape components with urlEscaped")
    }
    try checkControls(path)
    try checkClimbing(path)
  }

  static func checkControls(_ text: String) throws {
    if let bad = text.unicodeScalars.first(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw refused(text, "has the control character 0x\(String(bad.value, radix: 16))")
    }
  }

  static func checkClimbing(_ path: String) throws {
    // By bytes: a combining mark behind a slash would hide it from a comparison of characters. A backslash separates, too,
    // for servers and clients that follow the WHATWG's URL rules, and so do escapes for servers that decode before they
    // resolve. Replacing in text costs microseconds, so only where there is something to decode.
    var plain = path
    if path.utf8.contains(UInt8(ascii: "%")) {
      for (escape, byte) in [("%2f", "/"), ("%5c", "\\"), ("%2e", ".")] {
        plain = plain.replacingOccurrences(of: escape, with: byte, options: [.caseInsensitive, .literal])
      }
    }
    for component in plain.utf8.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
    where component.elementsEqual("..".utf8) {
      throw refused(path, "climbs with '..'")
    }
  }

  private static func refused(_ path: String, _ why: String) -> NetworkError {
    // Quoted by debugDescription: a line break in it must not break the message's line.
    NetworkError(kind: .invalidRequest, reason: "the path \(path.debugDescription) \(why)")
  }
}
