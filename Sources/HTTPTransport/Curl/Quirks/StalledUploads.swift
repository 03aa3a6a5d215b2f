#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  // Bug: an upload over HTTP/2 stands still when the server retires its connection (GOAWAY), until libcurl is
  // called.
  // Issue: none known. Versions: 8.21 and 8.23.
  // Hooks: `CurlLoop.checkLimits`, `CurlLoop.nextLook`, on all versions.
  // Test: `UploadHTTP2Tests.test_noUploadStandsStill`.
  // Delete this file and `ccurl_multi_prod` when the test passes without them on every supported version.

  extension CurlLoop {
    /// The time in nanoseconds between two calls while an upload runs.
    static let prodInterval: UInt64 = 100_000_000

    func prodUploads() {
      guard isUploadingOverHTTP2 else { return }
      ccurl_multi_prod(multi)
      work()
    }
  }
#endif
