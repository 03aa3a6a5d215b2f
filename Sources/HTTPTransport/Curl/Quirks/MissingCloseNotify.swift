#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  // Bug: libcurl accepts a TLS connection that ends without a close_notify alert as properly closed.
  // Issue: none known. Versions: all up to 8.14, with OpenSSL 1.1.1 and 3.
  // Hooks: `CurlHandle.headCompleted`, `CurlHandle.incompleteness`; the watch is in CLibcurl's TLS.c.
  // Test: `HostileTLSTests.test_aBodyDelimitedByTheConnectionRequiresCloseNotify`.
  // Delete this file when every supported version reports the missing alert.

  extension CurlHandle {
    /// Watches the TLS connection if only its end delimits the body.
    func watchCloseNotify(_ transfer: CurlTransfer) {
      if response.endsWithConnection, transfer.isSecure { ccurl_multi_watch_tls(multi, easy, connectionData) }
    }

    var lacksCloseNotify: Bool {
      response.endsWithConnection && connectionData.pointee.is_watched
        && !ccurl_multi_is_notified(multi, connectionData)
    }
  }
#endif
