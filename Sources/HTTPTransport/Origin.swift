import PortableFoundation

/// The scheme, host and port of a URL (RFC 6454 §4). Secrets of one origin are not sent to another, and limits and
/// budgets are counted per origin.
///
/// Origins are equal regardless of case, of a trailing dot of the host, and of an explicit default port.
package struct Origin: Hashable, Sendable {
  /// The text of the origin, such as `https://example.com` or `http://[::1]:8080`, without the default port.
  package let text: String

  package init(_ url: URL) { text = Self.plain(url.absoluteString) ?? Self.normal(url) }

  /// Returns the origin at the start of a URL that is already normalized, as most URLs are. Parsing a URL takes twenty
  /// times as long.
  private static func plain(_ url: String) -> String? {
    let bytes = url.utf8
    guard let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    guard bytes[scheme...].dropFirst().starts(with: "//".utf8), bytes[..<scheme].allSatisfy(isLowercase) else {
      return nil
    }
    let authority = bytes[scheme...].dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
    guard authority.endIndex < bytes.endIndex else { return nil }
    let host = authority.prefix { isLowercase($0) || $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    guard let last = host.last, last != UInt8(ascii: ".") else { return nil }
    let port = authority[host.endIndex...]
    if !port.isEmpty {
      // A default port is removed by the general path.
      guard port.first == UInt8(ascii: ":"), port.count == 5 || port.count == 6,
        port.dropFirst().allSatisfy({ $0.isDigit }),
        port.dropFirst().first != UInt8(ascii: "0")
      else { return nil }
    }
    return String(bytes[..<authority.endIndex])
  }

  /// Returns whether `url` has this origin. Most URLs start with the text of their origin, and parsing one is slow.
  package func contains(_ url: URL) -> Bool { Self.isIn(text, url.absoluteString) || Origin(url) == self }

  /// Returns whether `url` is exactly `origin`, or continues it with a slash; `false` may mean a different spelling.
  package static func isIn(_ origin: String, _ url: String) -> Bool {
    let isIn = url.utf8.withContiguousStorageIfAvailable { url in
      origin.utf8.withContiguousStorageIfAvailable { origin in
        guard let start = origin.baseAddress, let other = url.baseAddress, url.count >= origin.count,
          memcmp(start, other, origin.count) == 0
        else { return false }
        return url.count == origin.count || url[origin.count] == 0x2f
      }
    }
    return isIn == true
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }

  private static func normal(_ url: URL) -> String {
    let scheme = url.scheme?.lowercased() ?? ""
    let port = url.portInUse
    let host = url.plainHost ?? ""
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)" + (port == url.ownPort ? "" : ":\(port)")
  }
}

extension URL {
  /// The host in lowercase without a trailing dot, so that two spellings of one host are equal.
  var plainHost: String? {
    guard var host = host?.lowercased() else { return nil }
    // A percent-encoded name is decoded by `host`, but not converted like other international names (RFC 5891 §4).
    if host.utf8.contains(where: { $0 > 0x7F }), let name = URL(text: "https://\(host)/")?.host { host = name }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// The host and port, in the form used in errors: as in the URL, so that an international name is in ASCII, and with the
  /// port even if it is the default.
  package var hostAndPort: String {
    let text = absoluteString
    guard host != nil, let start = text.firstRange(of: "//")?.upperBound else { return text }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    if place.last == ":" { return "\(place)\(portInUse)" }
    return port == nil ? "\(place):\(portInUse)" : String(place)
  }

  var portInUse: Int { port ?? ownPort }
  fileprivate var ownPort: Int { scheme?.lowercased() == "https" ? 443 : 80 }
}
