#if canImport(CLibcurl)
  import LoopbackServer
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of what is certain about a request that libcurl has ended: each row of the table in
  /// `Tests/Reliability/README.md`.
  final class CurlFateTests: XCTestCase {
    private func fate(
      _ code: UInt32, starts: Int = 1, refused: Bool = false, status: Int = 0, head: Bool = false, body: Bool = false
    ) -> CurlFate {
      CurlFate(
        code: CURLcode(code), starts: starts, isRefused: refused, status: status, isHeadComplete: head,
        isBodyComplete: body)
    }

    func test_everyRowOfTheTable() {
      XCTAssertEqual(fate(0, status: 200, head: true), .complete)
      XCTAssertEqual(fate(0, status: 200), .truncated)
      XCTAssertEqual(fate(0), .truncated)
      XCTAssertEqual(fate(42, refused: true), .notSent)
      for code: UInt32 in [42, 65, 26] {
        XCTAssertEqual(fate(code, starts: 2), .mayHaveBeenProcessed)
        XCTAssertEqual(fate(code, starts: 2, status: 100), .mayHaveBeenProcessed)
      }
      for code: UInt32 in [16, 18, 52, 55, 56, 92] {
        XCTAssertEqual(fate(code), .mayHaveBeenProcessed)
        XCTAssertEqual(fate(code, status: 103), .mayHaveBeenProcessed)
        XCTAssertEqual(fate(code, status: 200), .truncated)
        XCTAssertEqual(fate(code, status: 200, head: true), .truncated)
        XCTAssertEqual(fate(code, status: 200, head: true, body: true), .complete)
        XCTAssertEqual(fate(code, starts: 2, status: 200, head: true, body: true), .truncated)
      }
      // A second start after the final head would join two responses.
      XCTAssertEqual(fate(42, starts: 2, status: 200, head: true, body: true), .failed)
      for code: UInt32 in [6, 7, 23, 28, 35, 60] { XCTAssertEqual(fate(code, starts: 0), .failed) }
    }

    private func transfer(_ method: HTTPMethod, _ version: Request.HTTPVersion = .automatic) throws -> CurlTransfer {
      var request = Request(method: method, url: try XCTUnwrap(URL(string: "https://h/")))
      request.options.httpVersion = version
      let loop = try XCTUnwrap(CurlLoop(CurlTransport.Configuration()))
      return CurlTransfer(request, loop: loop) { _ in }
    }

    func test_theNumberOfSendsIsLimited() throws {
      for (method, version, sends) in [
        (HTTPMethod.get, Request.HTTPVersion.automatic, 2), (.get, .http2, 3), (.post, .automatic, 1),
        (.post, .http2, 1),
      ] {
        let transfer = try transfer(method, version)
        for count in 1...sends {
          transfer.sends = count
          let obstacle = transfer.obstacleToRepetition(.mayHaveBeenProcessed, isBodyTaken: false)
          XCTAssertEqual(obstacle == nil, count < sends, "\(method) \(version) \(count)")
        }
        transfer.refusals = 4
        XCTAssertNil(transfer.obstacleToRepetition(.notSent, isBodyTaken: false))
        transfer.refusals = 5
        XCTAssertNotNil(transfer.obstacleToRepetition(.notSent, isBodyTaken: false))
      }
    }

    func test_aRequestThatMustNotBeRepeatedHasItsOwnConnection_withLibcurlBefore7_80() throws {
      let server = try TestServer { _ in .text("ok") }
      let transport = try CurlTransport()
      for method in [HTTPMethod.get, .post, .get, .patch, .put] {
        XCTAssertEqual(try outcome(Request(method: method, url: server.url("/")), on: transport).get().status, 200)
      }
      XCTAssertEqual(server.connectionCount, CurlLibrary.asksBeforeSending ? 1 : 3)
    }

    func test_aServersLimitForIdleConnectionsAppliesToRequestsThatMustNotBeRepeated() throws {
      guard CurlLibrary.asksBeforeSending else { throw XCTSkip("libcurl before 7.80 uses a new connection for a POST") }
      let server = try RawServer { client, number in
        while client.receiveHead() != nil {
          client.send("HTTP/1.1 200 OK\r\nKeep-Alive: max=9, Timeout=1\r\nContent-Length: 1\r\n\r\n\(number)")
        }
      }
      let transport = try CurlTransport()
      for (method, connection) in [(HTTPMethod.get, "1"), (.get, "1"), (.post, "2"), (.get, "2"), (.post, "3")] {
        let response = try outcome(Request(method: method, url: server.url), on: transport).get()
        XCTAssertEqual(String(decoding: response.body, as: UTF8.self), connection, "\(method)")
      }
    }
  }
#endif
