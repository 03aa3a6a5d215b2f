#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: after a failure, a reset easy handle keeps state for the next transfer. It wants to rewind the previous
  // body, and remembers a refused HTTP/2 stream.
  // Issue: none known. Versions: 8.14 for the body, all versions for the stream.
  // Hook: `CurlHandle.release`.
  // Test: `KeptConnectionTests.test_aRequestAfterALostBodyThatCannotBeSentAgainSucceeds`.
  // Delete this file when the test and `HostileTLSTests` pass without it on every supported version.

  extension CurlHandle {
    /// Whether libcurl's handle can be reused: its transfer succeeded at the first start.
    var isReusable: Bool {
      attempt.hasSucceeded && !wasRestarted && (!CurlLibrary.keepsFreedFields || hasCheckedFirstField)
    }
  }
#endif
