import PortableFoundation

/// What can stand for the place a call goes to: a path below the back end's base URL, an absolute URL as text, or a `URL`.
public protocol URLConvertible: Sendable {
  /// The absolute `http` or `https` URL, given the base.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` that names what is wrong.
  func url(below base: URL?) throws -> URL
}

extension String: URLConvertible {
  /// A text with `://` behind a scheme is an absolute URL, blanks around it apart; every other one is a path below
  /// `base`, joined with exactly one slash, whose own path is kept. `.` in a path is left out. What stands behind a `?` is
  /// a query, to which the base's and the call's are joined.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a path that climbs (`..`), has a `#` or control character, for a scheme other than http and https, or one of those without `//`, for a host or a port that is none,
  ///   and for a path without a base.
  public func url(below base: URL?) throws -> URL {
    let text = withoutBlanks
    let scheme = text.scheme
    if scheme != nil, text.utf8.dropFirst(scheme?.utf8.count ?? 0).starts(with: "://".utf8) {
      try URLPath.checkControls(text)
      try URLPath.checkClimbing(String(text.prefix { $0 != "?" && $0 != "#" }))
      if let problem = URLAuthority.backslash(in: text) { throw NetworkError(kind: .invalidRequest, reason: problem) }
      guard let url = URL(string: URLPath.withoutDots(url: text)) else {
        throw NetworkError(kind: .invalidRequest, reason: "no URL: \(debugDescription)")
      }
      return try url.url(below: base)
    }
    if let scheme, scheme.lowercased() == "http" || scheme.lowercased() == "https" {
      // Below the base it would go, with all its secrets, to a server that was not meant.
      throw NetworkError(
        kind: .invalidRequest, reason: "\(debugDescription) is no URL: two slashes belong behind \(scheme):")
    }
    guard let base else {
      throw NetworkError(
        kind: .invalidRequest, reason: "the path \(debugDescription) has no base URL: give the back end one")
    }
    guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return try base.url(below: nil).appending(safePath: self)
    }
    let query = String(self[utf8.index(after: mark)...])
    try URLPath.checkQuery(query, of: self)
    return try base.url(below: nil).appending(safePath: String(self[..<mark]))
      .appending(queryText: PercentEncoding.encode(query, keeping: PercentEncoding.query, keepingEscapes: true))
  }

  /// What stands in front of the first colon, if that may be a scheme (RFC 3986 §3.1).
  private var scheme: Substring? {
    guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = self[..<colon]
    guard let first = scheme.first, first.isASCII, first.isLetter else { return nil }
    return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) } ? scheme : nil
  }

  /// Without spaces, tabs and line breaks around it, which come along where a URL is pasted or read from a file.
  private var withoutBlanks: String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D }
    var rest = utf8.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(Substring(rest))
  }
}

extension URL: URLConvertible {
  /// The URL itself; `base` plays no part.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a scheme other than http and https, for no host, and for a host
  ///   or a port that is none.
  public func url(below base: URL?) throws -> URL {
    let scheme = self.scheme?.lowercased()
    guard scheme == "http" || scheme == "https" else {
      throw NetworkError(
        kind: .invalidRequest,
        reason: "only http and https URLs can be requested, not \(absoluteString.debugDescription)")
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
