import PortableFoundation

/// Scheme, host and port of a URL (RFC 6454 §4): what is secret with one origin goes to no other, and limits and budgets
/// are counted by it.
///
/// Case makes no difference, nor does the dot that may end a name, nor a port that is the scheme's own.
package struct Origin: Hashable, Sendable {
  /// Such as `https://example.com` or `http://[::1]:8080`; the port only where the scheme has another.
  package let text: String

  /// The origin of `url`.
  package init(_ url: URL) { text = Self.plain(url.absoluteString) ?? Self.normal(url) }

  /// What most URLs begin with, if it is in its usual form already: taking a URL apart takes twenty times as long.
  private static func plain(_ url: String) -> String? {
    let bytes = url.utf8
    guard let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    guard bytes[scheme...].dropFirst().starts(with: "//".utf8), bytes[..<scheme].allSatisfy(isLowercase) else {
      return nil
    }
    let authority = bytes[scheme...].dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
    guard authority.endIndex < bytes.endIndex else { return nil }
    let host = authority.prefix { isLowercase($0) || isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    guard let last = host.last, last != UInt8(ascii: ".") else { return nil }
    let port = authority[host.endIndex...]
    if !port.isEmpty {
      // The scheme's own port is left out, the long way.
      guard port.first == UInt8(ascii: ":"), port.count == 5 || port.count == 6, port.dropFirst().allSatisfy(isDigit),
        port.dropFirst().first != UInt8(ascii: "0")
      else { return nil }
    }
    return String(bytes[..<authority.endIndex])
  }

  /// Whether `url` is `origin`, letter by letter, or has a slash behind it; `false` may mean that it is spelled otherwise.
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
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func normal(_ url: URL) -> String {
    let scheme = url.scheme?.lowercased() ?? ""
    let port = url.portInUse
    let host = url.plainHost ?? ""
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)" + (port == url.ownPort ? "" : ":\(port)")
  }
}

extension URL {
  /// The host in lower case, without the dot that may end a name: two spellings of one host are the same here.
  var plainHost: String? {
    guard let host = host?.lowercased() else { return nil }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// Host and port as errors name them: the port is given even where the URL leaves it to the scheme.
  package var hostAndPort: String {
    guard let host else { return absoluteString }
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(name):\(portInUse)"
  }

  var portInUse: Int { port ?? ownPort }
  /// The scheme's port.
  fileprivate var ownPort: Int { scheme?.lowercased() == "https" ? 443 : 80 }
}
