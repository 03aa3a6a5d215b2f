// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  @_spi(Faults) import LoopbackServer
  import NetLayer
  import XCTest

  @testable import HTTPTransport

  /// The matrix with Foundation's session. docs/reliability.md lists its limitations on Linux.
  final class URLSessionFaultMatrixTests: FaultMatrixTests {
    override func makeTransport() throws -> any Transport { URLSessionTransport() }

    // XCTest on Linux does not discover a subclass that has no test of its own.
    func test_theTransportIsURLSessionTransport() throws { XCTAssert(try makeTransport() is URLSessionTransport) }

    #if canImport(FoundationNetworking)
      override var faults: [TestServer.Fault] {
        // Limitations of Foundation on Linux:
        // - A truncated head ends the process with a `fatalError`.
        // - Data that arrives faster than it is delivered accumulates in a queue, which also delays the end of the
        //   task.
        // - One of two Content-Length fields is accepted. Occasionally, a POST with such a response never completes.
        // - A truncated encoded body counts as complete.
        // - An unknown coding is an error.
        // - If the first field line starts with a space, libcurl 7.83 to 8.1.0 follows a pointer to freed memory, also
        //   inside Foundation.
        var left: [TestServer.Fault] = [
          .headCutShort, .endlessBody, .gzipBomb, .twoLengths, .foldedFirstField, .truncatedGzip, .gzipCutByClose,
          .unknownContentEncoding,
        ]
        // Neither Foundation nor such an old libcurl limits the size of a head.
        if !CurlLibrary.isAtLeast(0x07_5800) { left.append(.tenThousandHeaders) }
        return TestServer.Fault.allCases.filter { !left.contains($0) }
      }

      // Most malformed responses have the error of a lost connection.
      override class func expected(_ fault: TestServer.Fault) -> FaultGrid.Expected {
        let expected = super.expected(fault)
        guard case .failure(.parse, _, _) = expected else { return expected }
        return .failure(.parse, or: .connection)
      }

      // With libcurl 7.88, Foundation never completes a POST on a lost kept connection, and with 8.14 the POST fails.
      // The requests after a fault therefore use new connections. The test of kept connections relies on the time
      // limit.
      override var nextHeaders: HTTPHeaders { ["Connection": "close"] }

      // Foundation opens more connections than it is configured to.
      override var keptConnections: Int { 12 }

      override var diedUnderAPost: (expected: FaultGrid.Expected, limits: Request.Timeouts) {
        (
          .failure(.timeout, or: .connection),
          Request.Timeouts(connect: .seconds(0.3), idle: .seconds(0.3), attempt: .seconds(10))
        )
      }
    #endif
  }
#endif
