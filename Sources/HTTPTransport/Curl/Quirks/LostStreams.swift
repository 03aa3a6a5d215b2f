#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  // Bug: if an HTTP/2 connection is lost, some of its streams hang, or end as complete.
  // Issue: none known. Versions: up to 8.13, so that HTTP/2 requires 8.14. Later versions still let some streams
  // wait.
  // Hooks: `CurlLibrary.capabilities`, `CurlLoop.deliverFinished`.
  // Test: `HostileTLSTests.test_streamsThatWaitOnALostConnectionFail`,
  // `test_responsesTruncatedByTheEndOfTheConnectionFail`.
  // Delete `endsLostStreams` when 8.14 is the oldest supported version, and the rest when the first test passes
  // without it.

  extension CurlLibrary {
    static let endsLostStreams = isAtLeast(0x08_0e00)
  }

  extension CurlLoop {
    /// Ends the other requests of a lost connection, which are then sent again if possible.
    func endOtherStreams(of transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode) {
      guard transfer.mayMultiplex, CurlFate.connectionLosses.contains(code) else { return }
      ccurl_multi_shut_down(multi, handle.connectionData)
    }
  }
#endif
