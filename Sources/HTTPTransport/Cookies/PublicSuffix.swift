import PortableFoundation

#if canImport(CLibcurl)
  import CLibcurl
#endif

/// The list of public suffixes, under which anyone can register a name, such as `com`, `co.uk` and `github.io`.
enum PublicSuffix {
  static var isAvailable: Bool {
    #if canImport(CLibcurl)
      csuffix_available()
    #else
      false
    #endif
  }

  /// Returns whether `domain`, in lowercase, is a public suffix; `false` if the list is not available.
  static func contains(_ domain: String) -> Bool {
    #if canImport(CLibcurl)
      csuffix_contains(domain)
    #else
      false
    #endif
  }
  /// Returns the site of a domain or an address, in lowercase: the registrable domain, which is one label longer than a public
  /// suffix. Without the list, these are the last two labels. A public suffix and an address are sites themselves.
  static func site(of domain: String) -> String {
    guard !isAddress(domain) else { return domain }
    guard isAvailable else { return domain.split(separator: ".").suffix(2).joined(separator: ".") }
    var (site, rest) = (domain[...], domain[...])
    while !contains(String(rest)), let dot = rest.firstIndex(of: ".") {
      site = rest
      rest = rest[rest.index(after: dot)...]
    }
    return String(site)
  }

  static func isAddress(_ host: String) -> Bool {
    // The resolver reads every host that ends in a number as an IPv4 address, such as `0x7f.1`.
    guard !host.contains(":"), let last = host.split(separator: ".").last else { return true }
    return last.hasPrefix("0x") || last.isDigits
  }
}
