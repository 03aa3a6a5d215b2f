import PortableFoundation

#if canImport(CLibcurl)
  import CLibcurl
#endif

/// The list of public suffixes, under which anyone can register a name, such as `com`, `co.uk` and `github.io`.
enum PublicSuffix {
  /// Whether the list is available.
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
}
