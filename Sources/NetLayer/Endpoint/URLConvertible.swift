import Foundation

/// What can stand for the place a call goes to: a path below the back end's base URL, an absolute URL as text, or a `URL`.
public protocol URLConvertible: Sendable {
  /// The absolute `http` or `https` URL, given the base.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` that names what is wrong.
  func url(below base: URL?) throws -> URL
}

extension String: URLConvertible {
  /// A text with `://` behind a scheme is an absolute URL; every other one is a path below `base`, joined with exactly
  /// one slash, whose own path is kept.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a path that climbs (`..`), has a `?`, `#` or control
  ///   character, for a scheme other than http and https, and for a path without a base.
  public func url(below base: URL?) throws -> URL {
    if hasScheme {
      try URLPath.checkControls(self)
      try URLPath.checkClimbing(String(prefix { $0 != "?" && $0 != "#" }))
      guard let url = URL(string: self) else {
        throw NetworkError(kind: .invalidRequest, reason: "no URL: \(debugDescription)")
      }
      return try url.url(below: base)
    }
    guard let base else {
      throw NetworkError(
        kind: .invalidRequest, reason: "the path \(debugDescription) has no base URL: give the back end one")
    }
    return try base.url(below: nil).appending(safePath: self)
  }

  private var hasScheme: Bool {
    guard let range = range(of: "://") else { return false }
    let scheme = self[..<range.lowerBound]
    guard let first = scheme.first, first.isASCII, first.isLetter else { return false }
    return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }
}

extension URL: URLConvertible {
  /// The URL itself; `base` plays no part.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a scheme other than http and https, and for no host.
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
    return self
  }
}
