import LoopbackServer
import XCTest

@testable import NetLayer

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
      LoopbackServer.Fault.allCases.filter {
        ![
          .headCutShort, .endlessBody, .gzipBomb, .twoLengths, .foldedFirstField, .truncatedGzip, .gzipCutByClose,
        ].contains($0)
      }
    }

    // Over libcurl 7.88, Foundation never completes a POST on a kept connection that is gone: the faults get new ones,
    // but where that is the test, and there our own limit ends it. Over libcurl 8.14 it reports the lost connection
    // itself.
    override var nextHeaders: HTTPHeaders { ["Connection": "close"] }

    // It opens more than it is allowed.
    override var keptConnections: Int { 12 }

    override var diedUnderAPost: (kinds: [NetworkError.Kind], limits: Request.Timeouts) {
      ([.timeout, .connection], Request.Timeouts(connect: 0.3, idle: 0.3, total: 10))
    }
  #endif
}
