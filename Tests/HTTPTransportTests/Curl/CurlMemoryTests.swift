#if canImport(CLibcurl)
  import CLibcurl
  import NetLayer
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  /// The memory that this package allocates for libcurl.
  final class CurlMemoryTests: XCTestCase {
    override func setUpWithError() throws {
      // Loads libcurl.
      XCTAssertNil(CurlLibrary.failure)
      if residentGrowth({}) == nil { throw XCTSkip("the memory in use is unknown here") }
    }

    /// Returns whether `work`, which is done `count` times, leaves less than 8 MB.
    private func frees(_ count: Int, _ work: () throws -> Void) throws -> Bool {
      for _ in 0..<10 { try work() }
      return try residentGrowth { for _ in 0..<count { try work() } } ?? .max < 8 << 20
    }

    func test_linesAreFreed() throws {
      let long = String(repeating: "x", count: 100_000)
      XCTAssertTrue(try frees(200) { _ = CurlLine(long) })
      XCTAssertTrue(try frees(200) { _ = CurlHeaderList(["X": long], removed: ["Accept"]) })
    }

    func test_handlesAreFreed() throws {
      let multi = try XCTUnwrap(ccurl_multi_init())
      defer { ccurl_multi_cleanup(multi) }
      let url = "http://h/" + String(repeating: "x", count: 1000)
      XCTAssertTrue(
        try frees(40_000) {
          let handle = try XCTUnwrap(CurlHandle(.init(), multi: multi, share: nil))
          handle.set(url: url)
        })
    }

    func test_handlesThatAreReplacedAreFreed() throws {
      let multi = try XCTUnwrap(ccurl_multi_init())
      defer { ccurl_multi_cleanup(multi) }
      let handle = try XCTUnwrap(CurlHandle(.init(), multi: multi, share: nil))
      // Without a successful request, it is not used again.
      XCTAssertTrue(try frees(10_000) { XCTAssertTrue(handle.release()) })
    }

    func test_buffersOfWebSocketsAreFreed() throws {
      XCTAssertTrue(try frees(4000) { try XCTUnwrap(CurlWebSocketLoop(.init())).endAll() })
    }

    func test_entriesOfAnInboxThatHasEnded_areReleased() throws {
      let loop = try XCTUnwrap(CurlLoop(CurlTransport.Configuration()))
      let inbox = CurlInbox()
      inbox.end({ _ in }, jobs: { _ in })
      let request = Request(url: try XCTUnwrap(URL(string: "http://h/")))
      for add in [{ _ = inbox.submit($0) }, inbox.cancel, inbox.resume] as [(CurlTransfer) -> Void] {
        weak var released: CurlTransfer?
        do {
          let transfer = CurlTransfer(request, loop: loop) { _ in }
          released = transfer
          add(transfer)
        }
        XCTAssertNil(released)
      }
      loop.endAll()
    }
  }
#endif
