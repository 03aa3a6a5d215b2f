#if HAS_URLSESSION
  import Foundation
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The limit of a stream that may be silent, because a session does not detect that its connection is lost.
  final class SessionSilenceTests: XCTestCase {
    func test_aStreamThatMayBeSilentEndsAfterTenMinutes() throws {
      let url = try XCTUnwrap(URL(string: "http://h/"))
      for (idle, mayBeSilent, seconds) in [
        (nil, true, 600), (nil, false, nil), (.seconds(15), true, 15), (.seconds(1000), true, 1000),
      ] as [(Duration?, Bool, UInt64?)] {
        var request = Request(url: url, timeouts: .init(connect: .seconds(1), idle: idle, attempt: nil))
        request.context[MayBeSilent.self] = mayBeSilent ? MayBeSilent(head: idle) : nil
        let transfer = SessionTransfer(request, core: URLSessionTransport().core) { _ in }
        XCTAssertNil(transfer.limit(at: transfer.lastActivity + (idle == nil ? 700_000_000_000 : 0)).reached, "no head")
        transfer.response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        guard let seconds else {
          XCTAssertNil(transfer.limit(at: transfer.lastActivity + 86_400_000_000_000).reached)
          continue
        }
        let end = transfer.lastActivity + seconds * 1_000_000_000
        XCTAssertNil(transfer.limit(at: end - 1).reached)
        let error = try XCTUnwrap(transfer.limit(at: end).reached)
        XCTAssertEqual(error.kind, .timeout)
        XCTAssert(error.reason.contains("sent no data for \(seconds).0 s"), error.reason)
        XCTAssertEqual(error.reason.contains("(silence)"), idle != nil, error.reason)
      }
    }
  }
#endif
