import PortableFoundation

/// A parser for a `Set-Cookie` field (RFC 6265 §5.2, §5.3).
struct SetCookie {
  /// The maximum number of bytes of name and value together, and of an attribute (RFC 6265bis §5.6, §5.7).
  private static let maxSize = 4096
  private static let maxAttributeSize = 1024

  private(set) var cookie: CookieJar.Cookie

  /// Returns `nil` for a field without a cookie, or with a cookie that `url` must not set.
  init?(_ field: String, from url: URL, at now: Date) {
    guard let host = url.plainHost else { return nil }
    // Control characters must not get into the header of a request (RFC 6265bis §5.6, step 1).
    guard !field.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else { return nil }
    // Byte by byte: a character can consist of a delimiter and a combining mark.
    let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard case (let name, let value?)? = parts.first.map(Self.halves) else { return nil }
    // Larger cookies would burden every following request (RFC 6265bis §5.7, step 5).
    guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.maxSize else { return nil }
    cookie = CookieJar.Cookie(
      name: name, value: value, domain: host, isForSubdomains: false, path: Self.defaultPath(url), isSecure: false,
      expiresAt: nil)
    let (domain, hasPath) = take(parts, of: url, at: now)
    // An empty domain is that of the host (RFC 6265bis §5.7, step 10).
    guard domain.isEmpty || extend(to: domain, setBy: host) else { return nil }
    // Without TLS, an attacker on the network could have set this cookie.
    if cookie.isSecure, !Self.isSecure(url) { return nil }
    // Enforces the guarantees of name prefixes (RFC 6265bis §4.1.3).
    let lowered = name.lowercased()
    if lowered.hasPrefix("__secure-"), !cookie.isSecure { return nil }
    let isOfHost = domain.isEmpty && hasPath && cookie.path == "/"
    if lowered.hasPrefix("__host-"), !cookie.isSecure || !isOfHost { return nil }
  }

  /// Takes the attributes, of each of which the last one counts (RFC 6265 §5.3). Returns the domain, which is still to be
  /// checked, and whether there is a path.
  private mutating func take(_ parts: [Substring.UTF8View], of url: URL, at now: Date) -> (String, hasPath: Bool) {
    var maxAge: Date?
    var (domain, hasPath) = ("", false)
    for part in parts.dropFirst() {
      let attribute = Self.halves(part)
      let value = attribute.value ?? ""
      guard value.utf8.count <= Self.maxAttributeSize else { continue }
      switch attribute.name.lowercased() {
      case "expires": cookie.expiresAt = CookieDate.parse(value) ?? cookie.expiresAt
      case "max-age":
        let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
        guard digits.isDigits else { break }
        // 300 years are as good as any larger number.
        let seconds = min(Double(value) ?? 0, 1e10)
        maxAge = seconds > 0 ? now + seconds : .distantPast
      case "domain":
        domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
        if domain.hasSuffix(".") { domain.removeLast() }
      case "path":
        cookie.path = value.hasPrefix("/") ? value : Self.defaultPath(url)
        hasPath = true
      case "secure": cookie.isSecure = true
      default: break
      }
    }
    cookie.expiresAt = maxAge ?? cookie.expiresAt
    return (domain, hasPath)
  }

  /// Extends the cookie to `domain`, unless that is a public suffix. Returns whether `host` may set cookies for it.
  private mutating func extend(to domain: String, setBy host: String) -> Bool {
    guard domain == host || Self.isBelow(host, domain: domain) else { return false }
    // RFC 6265 §5.3, step 5.
    if PublicSuffix.contains(domain) { return domain == host }
    cookie.domain = domain
    // The owner of a name of one label, such as localhost or a top-level domain, does not own the subdomains.
    cookie.isForSubdomains = domain.contains(".") && !PublicSuffix.isAddress(host)
    return true
  }

  /// Returns whether `host` is below `domain`, which must have more than one label (RFC 6265 §5.1.3).
  static func isBelow(_ host: String, domain: String) -> Bool {
    domain.contains(".") && host.hasSuffix("." + domain) && !PublicSuffix.isAddress(host)
  }

  /// Returns whether requests to `url` may carry `Secure` cookies: over TLS, or within this machine, as in browsers and
  /// curl (RFC 6265bis §5.8.3 leaves it to the client).
  static func isSecure(_ url: URL) -> Bool {
    if url.scheme?.lowercased() == "https" { return true }
    guard let host = url.plainHost else { return false }
    let bytes = host.split(separator: ".", omittingEmptySubsequences: false)
    return host == "localhost" || host == "::1"
      || (bytes.count == 4 && bytes[0] == "127" && bytes.allSatisfy { UInt8(digits: $0) != nil })
  }

  /// Returns the parts before and after the first equals sign, without blanks; `nil` without a sign.
  private static func halves(_ text: Substring.UTF8View) -> (name: String, value: String?) {
    let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map {
      Substring($0).trimming { $0 == " " || $0 == "\t" }
    }
    return (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
  }

  /// Returns the default path of a cookie (RFC 6265 §5.1.4).
  private static func defaultPath(_ url: URL) -> String {
    let path = path(url)
    // The path of a redirect can have 90 KB, and a server could fill the store with cookies of such paths.
    guard path.utf8.count <= maxAttributeSize, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      return "/"
    }
    return String(path[..<slash])
  }

  /// Returns the path as sent, which is the spelling that the server uses in its cookies.
  static func path(_ url: URL) -> String {
    let path = url.path(percentEncoded: true)
    return path.hasPrefix("/") ? path : "/"
  }
}
