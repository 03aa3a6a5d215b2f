#if canImport(CLibcurl)
  import PortableFoundation

  // Limitation: HTTP/3 is experimental.
  // Versions: up to 8.4.
  // Hook: `CurlLibrary.capabilities`.
  // Test: `HTTP3Tests.test_withoutHTTP3NothingIsSent`.
  // Delete this file when 8.5 is the oldest supported version.

  extension CurlLibrary {
    static let hasStableHTTP3 = isAtLeast(0x08_0500)
  }
#endif
