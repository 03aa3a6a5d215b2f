// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import NetLayer
  import XCTest

  @testable import HTTPTransport

  /// The transport suite with Foundation's session.
  final class URLSessionTransportTests: TransportSuite {
    override func makeTransport() throws -> any Transport { URLSessionTransport() }

    override var gaps: [String: String] {
      var gaps = [
        "testDuplicateHeadersStaySeparateAndInOrder": "URLSession gives response headers as a dictionary"
      ]
      #if canImport(FoundationNetworking)
        gaps["testLatin1HeaderBytesBecomeCharacters"] = "Foundation on Linux refuses heads that are no UTF-8"
        gaps["testAPauseStopsTheServer"] = "Foundation on Linux starts a suspended task over, so it is left running"
        gaps["testALongBodyOfARedirectIsNotReadCompletely"] =
          "Foundation on Linux collects a redirect's body before it tells of it"
        gaps["testTLSWithAServerWithoutTLSFails"] = "Foundation on Linux reports TLS failures as URLError.unknown"
        gaps["testTheConnectionLimitPerHostIsEnforced"] =
          "Foundation on Linux opens more connections than it is told to"
        gaps["testUploadsCancelledAtAnyTimeEndOnceAndReleaseTheirSequences"] =
          "Foundation on Linux seldom ends the process where the upload of a file is cancelled"
      #endif
      return gaps
    }

    func testTheTransportIsURLSessionTransport() throws { XCTAssert(transport is URLSessionTransport) }
  }
#endif
