#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of responses that few servers send, byte for byte (RFC 9110 and RFC 9112).
  final class CurlProtocolTests: XCTestCase {
    /// Returns the outcome of `bytes`, and asserts that the next request succeeds.
    private func outcome(
      of bytes: String, method: HTTPMethod = .get, timeouts: Request.Timeouts = .init(), file: StaticString = #filePath,
      line: UInt = #line
    ) throws -> Result<NetLayer.Response, NetworkError> {
      let server = try TestServer { request in
        request.path == "/raw" ? .init(body: .raw([.init(bytes)])) : .text("next")
      }
      let transport = try CurlTransport()
      let result = try outcome(
        Request(method: method, url: server.url("/raw"), timeouts: timeouts), on: transport)
      let next = try outcome(Request(url: server.url("/next")), on: transport).get()
      XCTAssertEqual(String(decoding: next.body, as: UTF8.self), "next", file: file, line: line)
      return result
    }

    private func failure(
      of bytes: String, saying words: String, timeouts: Request.Timeouts = .init(), file: StaticString = #filePath,
      line: UInt = #line
    ) throws {
      switch try outcome(of: bytes, timeouts: timeouts, file: file, line: line) {
      case .success(let response):
        XCTFail("\(response.status), \(response.body.count) bytes", file: file, line: line)
      case .failure(let error):
        XCTAssertEqual(error.kind, .parse, file: file, line: line)
        XCTAssert(error.reason.contains(words), error.reason, file: file, line: line)
      }
    }

    func test_aFoldedFieldIsOneValue() throws {
      let reply = try outcome(
        of: "HTTP/1.1 200 OK\r\nX-Folded: one\r\n two\r\n\t three \r\nX-Next: 4\r\nContent-Length: 2\r\n\r\nok"
      ).get()
      XCTAssertEqual(reply.headers["X-Folded"], "one two three")
      XCTAssertEqual(reply.headers["X-Next"], "4")
      XCTAssertEqual(reply.body, Data("ok".utf8))
    }

    func test_aFoldedFirstLineOfAHeadIsRejectedWithoutAffectingOtherRequests() throws {
      // With such a line, libcurl 7.83 to 8.1.0 follows a pointer to a freed field when an easy handle is used for the
      // second time.
      let server = try TestServer { request in
        request.path == "/text"
          ? .text("ok") : .init(body: .raw([.init("HTTP/1.1 200 OK\r\n X-Folded: 1\r\nContent-Length: 2\r\n\r\nok")]))
      }
      let transport = try CurlTransport()
      for _ in 0..<40 {
        let text = try outcome(Request(url: server.url("/text")), on: transport).get()
        XCTAssertEqual(text.body, Data("ok".utf8))
        guard case .failure(let error) = try outcome(Request(url: server.url("/")), on: transport) else {
          return XCTFail("taken")
        }
        XCTAssertEqual(error.kind, .parse)
      }
    }

    func test_aFoldedFirstLineAfterInterimResponsesIsRejectedAndItsConnectionClosed() throws {
      let heads = [
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n X: 1\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 103 Early Hints\r\n\tX: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n \r\nContent-Length: 2\r\n\r\nok",
      ]
      for head in heads {
        let server = try TestServer { request in
          request.path == "/text" ? .text("ok") : .init(body: .raw([.init(head)]))
        }
        let transport = try CurlTransport()
        for _ in 0..<10 {
          XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: transport).get().body, Data("ok".utf8))
          switch try outcome(Request(url: server.url("/")), on: transport) {
          case .failure(let error): XCTAssertEqual(error.kind, .parse, head)
          // libcurl 8.23 ignores the line of an interim response.
          case .success(let response):
            XCTAssert(head.contains("103"), head)
            XCTAssertEqual(response.body, Data("ok".utf8))
          }
        }
        if !head.contains("103") { XCTAssertGreaterThanOrEqual(server.connectionCount, 10, head) }
      }
    }

    func test_aFoldedFirstLineOfARedirectIsRejected() throws {
      let server = try TestServer { request in
        let head = "HTTP/1.1 302 Found\r\n\tX-Folded: 1\r\nLocation: /\(request.path)1\r\nContent-Length: 0\r\n\r\n"
        let plain = TestServer.Response.redirect(to: "\(request.path)1")
        return request.path.count < 4 ? plain : .init(body: .raw([.init(head)]))
      }
      guard case .failure(let error) = try outcome(Request(url: server.url("/")), on: CurlTransport()) else {
        return XCTFail("taken")
      }
      XCTAssertEqual(error.kind, .parse)
    }

    func test_trailersAreReadAndNotAddedToTheHead() throws {
      let reply = try outcome(
        of: "HTTP/1.1 200 OK\r\nTrailer: X-Late\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n"
      ).get()
      XCTAssertEqual(reply.body, Data("ok".utf8))
      XCTAssertNil(reply.headers["X-Late"])
    }

    func test_anUnsolicitedProtocolSwitchIsRejected() throws {
      try failure(
        of: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nno HTTP", saying: "101")
    }

    func test_endlessInterimResponsesReachTheirLimit() throws {
      let hint = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
      try failure(of: String(repeating: hint, count: 10_000), saying: "more than 1000 interim heads")
    }

    func test_slowEndlessInterimResponsesReachTheTotalTimeLimit() throws {
      let hint = TestServer.Response.Chunk("HTTP/1.1 102 Processing\r\n\r\n", after: 0.02)
      let server = try TestServer { _ in
        .init(body: .raw([TestServer.Response.Chunk](repeating: hint, count: 5000)))
      }
      let request = Request(
        url: server.url("/"), timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.4)))
      guard case .failure(let error) = try outcome(request, on: CurlTransport()) else { return XCTFail("answered") }
      XCTAssertEqual(error.kind, .timeout)
      XCTAssert(error.reason.contains("Timeouts.attempt"), error.reason)
    }

    func test_responsesWithoutABodyIgnoreTheirContentLength() throws {
      for (method, status) in [(HTTPMethod.get, "204 No Content"), (.get, "304 Not Modified"), (.head, "200 OK")] {
        for field in ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n", ""] {
          let reply = try outcome(of: "HTTP/1.1 \(status)\r\n\(field)\r\n", method: method).get()
          XCTAssertEqual("\(reply.status)", String(status.prefix(3)))
          XCTAssertEqual(reply.body, Data(), "\(method) \(status) \(field)")
        }
      }
    }

    func test_bytesAfterAResponseWithoutABodyAreNotTheNextResponse() throws {
      let smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"
      for (method, status) in [(HTTPMethod.get, "204 No Content"), (.get, "304 Not Modified"), (.head, "200 OK")] {
        for field in ["", "Content-Length: \(smuggled.utf8.count)\r\n"] {
          let reply = try outcome(of: "HTTP/1.1 \(status)\r\n\(field)\r\n\(smuggled)", method: method).get()
          XCTAssertEqual(reply.body, Data(), "\(method) \(status) \(field)")
        }
      }
    }

    func test_invalidChunkSizesFailTheResponse() throws {
      for size in ["-2", "", "zz", " ", "+2", "ffffffffffffffffff", "8000000000000000", "\0"] {
        for field in ["", "Content-Length: 2\r\n"] {
          let head = "HTTP/1.1 200 OK\r\n\(field)Transfer-Encoding: chunked\r\n\r\n"
          // As the first chunk, and after a valid chunk.
          for start in ["", "2\r\nok\r\n"] {
            try failure(of: head + start + "\(size)\r\nno\r\n0\r\n\r\n", saying: "127.0.0.1")
          }
        }
      }
    }

    func test_aBatchOfSubmissionsWakesTheLoopOnce() {
      let inbox = CurlInbox()
      var wakeUps = 0
      for batch in 1...3 {
        XCTAssert(inbox.fallAsleep())
        for _ in 0..<100 { inbox.waker.wakeIfAsleep { wakeUps += 1 } }
        XCTAssertEqual(wakeUps, batch)
        inbox.waker.wakeUp()
        // The loop is awake, and reads the inbox before it sleeps again.
        inbox.waker.wakeIfAsleep { wakeUps += 1 }
        XCTAssertEqual(wakeUps, batch)
      }
    }

    func test_ambiguousFramingFields_areRejected() throws {
      // libcurl 8.23 replaces line folding with a space before it uses a field (RFC 9112 §5.2). The end is then certain.
      let unfolded = [
        "Transfer-Encoding:\r\n chunked": "ok", "Transfer-Encoding: chunked\r\n ": "ok",
        "Content-Length:\r\n\t2": "2\r",
      ]
      for field in [
        "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\n ", "Content-Length: 2\r\n 2",
        "Content-Length:\r\n\t2", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: xyz",
        "Transfer-Encoding: chunked\u{B}", "Content-Length : 2", "X-A : b\r\nContent-Length: 2",
      ] {
        switch try outcome(of: "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n2\r\nok\r\n0\r\n\r\n") {
        case .failure(let error): XCTAssertEqual(error.kind, .parse, field.debugDescription)
        case .success(let response):
          XCTAssertTrue(CurlLibrary.isAtLeast(0x08_1500), field.debugDescription)
          XCTAssertEqual(String(decoding: response.body, as: UTF8.self), unfolded[field], field.debugDescription)
        }
      }
    }

    func test_aRangeIsRequestedWithoutCodings() throws {
      let server = try TestServer { .text($0.header("Accept-Encoding") ?? "none") }
      let transport = try CurlTransport()
      let request = Request(url: server.url("/"), headers: ["Range": "bytes=1-2"])
      XCTAssertEqual(try outcome(request, on: transport).get().text(), "identity")
      XCTAssertNotEqual(try outcome(Request(url: server.url("/")), on: transport).get().text(), "identity")
    }
  }
#endif
