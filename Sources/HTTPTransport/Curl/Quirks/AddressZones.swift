#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: libcurl loses the zone of an IPv6 address in the copy of a parsed URL.
  // Issue: curl 11549. Versions: up to 8.2.
  // Hook: `CurlHandle.set(url:)`, which passes such a URL as text only.
  // Test: none, because the tests use 127.0.0.1 only; checked manually with 7.88.
  // Delete this file when 8.3 is the oldest supported version.

  extension CurlLibrary {
    private static let losesZones = !isAtLeast(0x08_0300)

    static func losesZone(of url: String) -> Bool { losesZones && url.utf8.contains(0x5b) }
  }
#endif
