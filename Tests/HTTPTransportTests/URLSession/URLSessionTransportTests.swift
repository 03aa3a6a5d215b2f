// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import NetLayer
  import XCTest

  import HTTPTransport

  /// The transport suite with Foundation's session.
  final class URLSessionTransportTests: TransportSuite {
    override func makeTransport() throws -> any Transport { URLSessionTransport() }

    override func makeTLSTransport() throws -> any Transport {
      #if canImport(FoundationNetworking)
        // Foundation on Linux has no option for the CAs.
        let files = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        let hasCAs = files.contains { FileManager.default.isReadableFile(atPath: $0) }
        try XCTSkipUnless(hasCAs, "ca-certificates is not installed")
      #endif
      return try makeTransport()
    }

    override var gaps: [String: String] {
      var gaps = [
        "test_duplicateHeadersStaySeparateAndInOrder": "URLSession gives response headers as a dictionary"
      ]
      #if canImport(FoundationNetworking)
        gaps["test_latin1HeaderBytesBecomeCharacters"] = "Foundation on Linux refuses heads that are no UTF-8"
        gaps["test_aPauseStopsTheServer"] = "Foundation on Linux starts a suspended task over, so it is left running"
        gaps["test_aLongBodyOfARedirectIsNotReadCompletely"] =
          "Foundation on Linux collects a redirect's body before it tells of it"
        gaps["test_tlsWithAServerWithoutTLSFails"] = "Foundation on Linux reports TLS failures as URLError.unknown"
        gaps["test_theConnectionLimitPerHostIsEnforced"] =
          "Foundation on Linux opens more connections than it is told to"
        gaps["test_uploadsCancelledAtAnyTimeEndOnceAndReleaseTheirSequences"] =
          "Foundation on Linux seldom ends the process where the upload of a file is cancelled"
      #endif
      return gaps
    }

    func test_theTransportIsURLSessionTransport() throws { XCTAssert(transport is URLSessionTransport) }
  }
#endif
