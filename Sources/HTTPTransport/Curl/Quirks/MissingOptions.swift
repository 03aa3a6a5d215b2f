#if canImport(CLibcurl)
  import PortableFoundation

  // Limitation: older versions lack options.
  // Hooks: `CurlHandle.setUpConnections`, `CurlHandle.setUpProtocols`, `CurlTransport.Configuration.failure`.
  // Test: `CurlSettingsTests` for `CURLOPT_CAINFO_BLOB`.
  // Delete each line when its version is the oldest supported one.

  extension CurlLibrary {
    /// `CURLOPT_CAINFO_BLOB`.
    static let hasBlobs = isAtLeast(0x07_4d00)
    /// `CURLOPT_PROTOCOLS_STR`, which replaces a deprecated option.
    static let namesProtocols = isAtLeast(0x07_5500)
    /// `CURLOPT_QUICK_EXIT`. Without it, the end of a request waits for a slow name server.
    static let hasQuickExit = isAtLeast(0x07_5700)
  }
#endif
