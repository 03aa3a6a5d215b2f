import PortableFoundation

/// The checks of the authority of a URL, between its scheme and its path (RFC 3986 §3.2).
package enum URLAuthority {
  /// Returns the reason why the host or port of `url` is invalid; `nil` if both are valid. `url` begins with `http://`
  /// or `https://`.
  package static func problem(of url: String) -> String? {
    if let problem = backslash(in: url) { return problem }
    var rest = authority(of: url)
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
    let isAddress = rest.first == UInt8(ascii: "[")
    guard let end = isAddress ? rest.firstIndex(of: UInt8(ascii: "]")).map(rest.index(after:)) : rest.endIndex else {
      return "the URL \(url.debugDescription) has no ']' after its IPv6 address"
    }
    var host = rest[..<end]
    var port = rest[end...]
    if !isAddress, let colon = host.lastIndex(of: UInt8(ascii: ":")) { (host, port) = (host[..<colon], host[colon...]) }
    if host.isEmpty { return "the URL \(url.debugDescription) has no host" }
    if isAddress ? !isIPv6(String(Substring(host))) : !isName(host) {
      return "the URL \(url.debugDescription) has no valid host: \(String(Substring(host)).debugDescription)"
    }
    return isPort(port) ? nil : "the URL \(url.debugDescription) has no valid port; ports are 1 to 65535"
  }

  /// Returns the reason to reject a URL with a backslash before its path. Some parsers read it as a slash and others as
  /// part of the user's name, so that they see different hosts. Foundation would escape it.
  package static func backslash(in url: String) -> String? {
    guard authority(of: url).contains(UInt8(ascii: "\\")) else { return nil }
    return "the URL \(url.debugDescription) has a backslash before its path; use slashes"
  }

  private static func authority(of url: String) -> Substring.UTF8View {
    let bytes = url.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return bytes[bytes.endIndex...] }
    return bytes[colon...].dropFirst(3).prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
  }

  /// Returns whether `text` is empty, a colon and a number, or a colon alone, which means the default port (RFC 3986
  /// §3.2.3).
  private static func isPort(_ text: Substring.UTF8View) -> Bool {
    guard let colon = text.first else { return true }
    let digits = text.dropFirst()
    guard colon == UInt8(ascii: ":"), digits.allSatisfy({ $0.isDigit }) else { return false }
    return digits.isEmpty || UInt16(Substring(digits)).map { $0 > 0 } == true
  }

  /// Returns whether `text` is an IPv6 address in brackets, with or without a zone of unreserved characters. Escapes in
  /// a zone are invalid: decoded, they could be line breaks (RFC 6874 §2).
  private static func isIPv6(_ text: String) -> Bool {
    let parts = text.dropFirst().dropLast().split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(parts[0]), &address) == 1 else { return false }
    return parts.count == 1
      || (parts[1].hasPrefix("25") && parts[1].utf8.count > 2 && parts[1].utf8.allSatisfy(\.isUnreserved))
  }

  /// Returns whether `host` consists of labels of 1 to 63 bytes, with an optional trailing dot (RFC 1035 §2.3.4).
  /// Delimiters and other forbidden host code points (WHATWG URL) are invalid, also percent-encoded.
  private static func isName(_ host: Substring.UTF8View) -> Bool {
    guard host.contains(UInt8(ascii: "%")) else { return isPlainName(host) }
    return Substring(host).decodingPercent.map { isPlainName($0.utf8[...]) } ?? false
  }

  // Byte by byte and without allocations, because this runs for every request.
  private static func isPlainName(_ host: Substring.UTF8View) -> Bool {
    guard host.first != UInt8(ascii: "*") else { return false }
    var (count, label) = (0, 0)
    for byte in host {
      if byte == UInt8(ascii: ".") {
        guard label > 0 else { return false }
        label = 0
      } else {
        guard byte > 0x20, byte != 0x7F, !isForbidden(byte), label < 63 else { return false }
        label += 1
      }
      count += 1
    }
    return count > 0 && count <= 254
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: ":"),
      UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "[")...UInt8(ascii: "^"), UInt8(ascii: "`"),
      UInt8(ascii: "{")...UInt8(ascii: "}"):
      true
    default: false
    }
  }
}
