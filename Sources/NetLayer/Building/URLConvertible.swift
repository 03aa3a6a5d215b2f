import PortableFoundation

/// A type that represents the URL of a call: a path of the backend, its components, an absolute URL as text, or a `URL`.
public protocol URLConvertible: Sendable {
  /// Returns the absolute `http` or `https` URL, given the base URL.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` that names the invalid part.
  func url(below base: URL?) throws -> URL
}

extension String: URLConvertible {
  /// Returns the absolute URL of the text.
  ///
  /// A text with `://` after a scheme is an absolute URL; surrounding whitespace is ignored. Any other text is a path,
  /// joined with exactly one slash to `base`, whose own path is kept. Text after a `?` is a query.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a path that contains `..`, a `#` or a control character, or
  ///   has no base. It has the same kind for a scheme other than http and https, and for an invalid host or port.
  public func url(below base: URL?) throws -> URL {
    let text = withoutBlanks
    let scheme = text.scheme
    if scheme != nil, text.utf8.dropFirst(scheme?.utf8.count ?? 0).starts(with: "://".utf8) {
      try URLPath.checkControls(text)
      try URLPath.checkClimbing(String(text.prefix { $0 != "?" && $0 != "#" }))
      if let problem = URLAuthority.backslash(in: text) { throw NetworkError(kind: .invalidRequest, reason: problem) }
      guard let url = URL(text: URLPath.withoutDots(url: text)) else {
        throw NetworkError(
          kind: .invalidRequest, reason: "invalid URL \(debugDescription); check its host and percent-encoding")
      }
      return try url.url(below: base)
    }
    if let scheme, scheme.lowercased() == "http" || scheme.lowercased() == "https" {
      // As a path, this text would be sent to an unintended server with all its secrets.
      throw NetworkError(
        kind: .invalidRequest, reason: "invalid URL \(debugDescription): \(scheme): must be followed by two slashes")
    }
    guard let base else {
      throw NetworkError(
        kind: .invalidRequest, reason: "the path \(debugDescription) has no base URL; set the backend's baseURL")
    }
    guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return try base.url(below: nil).appending(safePath: self)
    }
    let query = String(self[utf8.index(after: mark)...])
    try URLPath.checkQuery(query, of: self)
    let url = try base.url(below: nil).appending(safePath: String(self[..<mark]))
    // An empty query is a query, too (RFC 3986 §6.2.3).
    guard query.isEmpty, url.query == nil else { return try url.appending(queryText: query) }
    return URL(text: url.absoluteString + "?") ?? url
  }

  /// The text before the first colon, if it may be a scheme (RFC 3986 §3.1).
  private var scheme: Substring? {
    guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = self[..<colon]
    guard let first = scheme.first, first.isASCII, first.isLetter else { return nil }
    return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) } ? scheme : nil
  }

  /// The text without surrounding spaces, tabs and line breaks, which are common in pasted URLs and URLs from files.
  private var withoutBlanks: String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D }
    var rest = utf8.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(Substring(rest))
  }
}

extension [String]: URLConvertible {
  /// Returns the URL of the path whose components are the elements, each percent-encoded, including its slashes.
  ///
  /// ```swift
  /// let room = try await chat.fetch(.get(["rooms", name, "messages"]), as: [Message].self)
  /// ```
  /// - Throws: `NetworkError` of kind `invalidRequest` for a component that is empty, `.` or `..`, because the path would
  ///   mean another resource, and for a path without a base.
  public func url(below base: URL?) throws -> URL {
    for (index, component) in enumerated() where ["", ".", ".."].contains(component) {
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "the component \(index) of the path is \(component.debugDescription), which would change the path; check "
          + "the value")
    }
    return try pathOfComponents.url(below: base)
  }

  var pathOfComponents: String { map { "/" + $0.urlEscaped }.joined() }
}

extension URL: URLConvertible {
  /// Returns the URL itself and ignores `base`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a scheme other than http and https, for a missing host, and
  ///   for an invalid host or port.
  public func url(below base: URL?) throws -> URL {
    let scheme = self.scheme?.lowercased()
    guard scheme == "http" || scheme == "https" else {
      throw NetworkError(
        kind: .invalidRequest,
        reason: "invalid URL \(absoluteString.debugDescription): the scheme must be http or https")
    }
    guard let host = host(), !host.isEmpty else {
      throw NetworkError(kind: .invalidRequest, reason: "the URL \(absoluteString.debugDescription) has no host")
    }
    if let problem = URLAuthority.problem(of: absoluteString) {
      throw NetworkError(kind: .invalidRequest, reason: problem)
    }
    return self
  }
}
