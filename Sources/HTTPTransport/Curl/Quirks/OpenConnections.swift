#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: libcurl closes the connection of a removed handle with `CURLOPT_CONNECT_ONLY` only if its cache is full.
  // Before 7.73, that also applies to the end of the multi handle.
  // Issue: curl 9342. Versions: up to 7.85. Later versions close it, with close_notify inside TLS.
  // Hooks: `CurlWebSocket.release`, and the cache of one connection in `CurlWebSocketLoop.init`.
  // Test: `CurlWebSocketTests.test_disposingInAnyPhaseEndsTheSocketAndClosesItsConnection`.
  // Delete this file when 7.86 is the oldest supported version.

  extension CurlLibrary {
    static let leavesConnectionsOpen = !isAtLeast(0x07_5600)
  }
#endif
