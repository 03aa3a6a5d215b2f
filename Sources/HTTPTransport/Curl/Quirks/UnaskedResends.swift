#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: libcurl sends a request again after a lost connection, and does not ask before (`CURLOPT_PREREQFUNCTION`
  // is newer).
  // Issue: none; a missing feature. Versions: up to 7.79.
  // Hooks: `CurlHandle.prepare`, `CurlHandle.connectedAt`, `CurlTransport.Configuration.failure`.
  // Test: `CurlFateTests.test_aRequestThatMustNotBeRepeatedHasItsOwnConnection_withLibcurlBefore7_80`.
  // Delete this file when 7.80 is the oldest supported version.

  extension CurlLibrary {
    /// `true` if libcurl asks before each start of a request.
    static let asksBeforeSending = isAtLeast(0x07_5000)
  }

  extension CurlHandle {
    /// Returns whether libcurl might send a request twice that must not be. It never does so on a new connection.
    func mayBeResentUnasked(_ transfer: CurlTransfer) -> Bool {
      !CurlLibrary.asksBeforeSending && !transfer.maySendTwice
    }
  }
#endif
