// Left out together with the transport: the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import LoopbackServer
  import NetLayer
  import XCTest

  @testable import HTTPTransport

  /// The matrix over Foundation's session; what it can't do on Linux is in docs/reliability.md.
  final class URLSessionFaultMatrixTests: FaultMatrixTests {
    override func makeTransport() throws -> any Transport { URLSessionTransport() }

    // Without one of its own, a subclass is not found on Linux.
    func testTheTransportIsTheSession() throws { XCTAssert(try makeTransport() is URLSessionTransport) }

    #if canImport(FoundationNetworking)
      override var faults: [LoopbackServer.Fault] {
        // A head that is cut short ends the process (a fatalError of Foundation's); what comes faster than it is handed out
        // piles up in its queue, and the end of the task behind it. Of two lengths one is believed, and now and then
        // such an answer to a POST is never completed. A coded body that is cut short passes for a complete one. A first
        // field line that begins with a blank has libcurl 7.83 to 8.1.0 follow a pointer to freed memory, inside Foundation,
        // too.
        var left: [LoopbackServer.Fault] = [
          .headCutShort, .endlessBody, .gzipBomb, .twoLengths, .foldedFirstField, .truncatedGzip, .gzipCutByClose,
        ]
        // Foundation has no limit of its own for heads, and libcurl of that age neither.
        if !CurlLibrary.isAtLeast(0x07_5800) { left.append(.tenThousandHeaders) }
        return LoopbackServer.Fault.allCases.filter { !left.contains($0) }
      }

      // Over libcurl 7.88, Foundation never completes a POST on a kept connection that is gone, and with 8.14 it fails: the
      // faults get new ones, but where that is the test, and there our own limit ends it.
      override var nextHeaders: HTTPHeaders { ["Connection": "close"] }

      // It opens more than it is allowed.
      override var keptConnections: Int { 12 }

      override var diedUnderAPost: (expected: FaultGrid.Expected, limits: Request.Timeouts) {
        (.failure(.timeout, or: .connection), Request.Timeouts(connect: 0.3, idle: 0.3, total: 10))
      }
    #endif
  }
#endif
