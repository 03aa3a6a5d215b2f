import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import XCTest

/// Tests of server faults, invalid addresses and header injection: the request fails once with the correct kind, and
/// the next one succeeds.
extension TransportSuite {
  func test_aConnectionClosedBeforeTheHeadFails() throws {
    try failure(request(.get, "/close"), .connection)
    try assertStillServes()
    // Now over a kept connection.
    try failure(request(.get, "/close"), .connection)
    try assertStillServes()
  }

  func test_aConnectionResetBeforeTheHeadFails() throws {
    try failure(request(.get, "/reset"), .connection)
    try assertStillServes()
  }

  func test_aConnectionResetInTheBodyFails() throws {
    try failure(request(.get, "/reset-body"), .connection)
    try assertStillServes()
  }

  func test_aTruncatedBodyFailsAndTheErrorHasTheByteCounts() throws {
    let error = try failure(request(.get, "/cut-body"), .connection)
    XCTAssert(error.reason.contains("is incomplete"), error.reason)
    XCTAssert(error.reason.contains("100 of 1000 bytes"), error.reason)
    try assertStillServes()
  }

  func test_aResponseThatIsNotHTTPFails() throws {
    try failure(request(.get, "/nonsense"), .parse)
    try assertStillServes()
  }

  func test_aRefusedPortNamesHostAndPort() throws {
    let closed = try TestServer { _ in .status(200) }
    let url = closed.url("/")
    closed.stop()
    let error = try failure(Request(url: url), .connection)
    XCTAssert(error.reason.contains("127.0.0.1:\(closed.port)"), error.reason)
    XCTAssertNotNil(error.underlying)
    try assertStillServes()
  }

  func test_anUnknownHostIsNamed() throws {
    let url = try XCTUnwrap(URL(string: "http://nosuchhost.invalid/"))
    let error = try failure(Request(url: url), .unknownHost)
    XCTAssert(error.reason.contains("nosuchhost.invalid"), error.reason)
    try assertStillServes()
  }

  func test_tlsWithAServerWithoutTLSFails() throws {
    let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
    try failure(Request(url: url), .tls, on: makeTLSTransport())
    try assertStillServes()
  }

  func test_headerInjectionIsRejectedAndNamed() throws {
    let cases: [(HTTPMethod, HTTPHeaders, String)] = [
      ("GET\r\nX: y", [:], "method"), ("", [:], "method"), ("GE T", [:], "method"), ("GE\0T", [:], "method"),
      (.get, ["X-Bad\r\nX": "y"], "header name"), (.get, ["X\0Bad": "y"], "header name"),
      (.get, ["": "y"], "header name"), (.get, ["X Y": "y"], "header name"),
      (.get, ["X-Value": "a\r\nX-Injected: b"], "X-Value"), (.get, ["X-Value": "a\nb"], "X-Value"),
      (.get, ["X-Value": "a\0b"], "X-Value"), (.get, ["X-Value": "a\u{1B}b"], "0x1b at byte 1"),
      (.get, ["X-Value": "a\u{7F}"], "0x7f at byte 1"), (.get, ["X-Value": "a\r\n"], "CR at byte 1"),
      (.post, ["Transfer-Encoding": "chunked"], "Transfer-Encoding"),
      (.post, ["Content-Length": "7"], "Content-Length"), (.post, ["Content-Length": "+0"], "Content-Length"),
    ]
    for (method, headers, place) in cases {
      let error = try failure(request(method, "/echo", headers: headers), .invalidRequest)
      XCTAssert(error.reason.contains(place), error.reason)
    }
    XCTAssertEqual(server.requestCount, 0)
    try assertStillServes()
  }

  func test_aCarriageReturnWithinAReceivedFieldIsNotALineBreak() throws {
    let server = try TestServer { _ in
      .init(body: .raw([.init("HTTP/1.1 200 OK\r\nX-A: a\rX-Evil: 1\r\nContent-Length: 2\r\n\r\nok")]))
    }
    guard case .success(let reply) = try perform(Request(url: server.url("/"))) else { return }
    XCTAssertNil(reply.headers["X-Evil"])
    XCTAssertFalse(reply.headers.contains { $0.value.contains("\r") || $0.value.contains("\n") }, "\(reply.headers)")
  }

  func test_requestsThatViolateHTTPAreRejected() throws {
    let negative = Request.Timeouts(attempt: .seconds(-1))
    try failure(request(.trace, "/echo", body: .data(Data("content".utf8))), .invalidRequest)
    try failure(request("CONNECT", "/echo"), .invalidRequest)
    try failure(request(.get, "/echo", timeouts: negative), .invalidRequest)
    XCTAssertEqual(server.requestCount, 0)
    XCTAssertEqual(try response(request(.trace, "/echo")).headers["X-Method"], "TRACE")
  }

  func test_aPipeAsABodyIsRejectedWithoutBlocking() throws {
    let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)")
    XCTAssertEqual(mkfifo(pipe.path, 0o600), 0)
    defer { try? FileManager.default.removeItem(at: pipe) }
    let error = try failure(request(.put, "/echo", body: .file(pipe)), .invalidRequest)
    XCTAssert(error.reason.contains(pipe.path), error.reason)
    try assertStillServes()
  }

  func test_aContentLengthThatContradictsAFileIsRejected() throws {
    let file = try temporaryFile(Data("12345".utf8))
    let error = try failure(
      request(.put, "/echo", headers: ["Content-Length": "4"], body: .file(file)), .invalidRequest)
    XCTAssert(error.reason.contains("5 bytes"), error.reason)
    XCTAssertEqual(server.requestCount, 0)
  }

  func test_aHostWithEncodedControlCharactersIsRejected() {
    for host in ["a%0d%0aX", "a%00", "a%7f", "a%20b", "a%0", "a%zz"] {
      let failure = RequestCheck.failure(of: request(.get, "/"), url: "http://\(host)/")
      XCTAssertEqual(failure?.kind, .invalidRequest, host)
      XCTAssert(failure?.reason.contains("host") == true, host)
    }
    XCTAssertNil(RequestCheck.failure(of: request(.get, "/"), url: "http://a%41b/%0d%00"))
  }

  func test_urLsThatAreNotHTTPAreRejectedAndNamed() throws {
    for text in [
      "ftp://127.0.0.1/x", "file:///etc/passwd", "/relative", "http:///x", "mailto:a@b.c", "gopher://127.0.0.1/x",
      "dict://127.0.0.1/x",
      "ldap://127.0.0.1/x", "smb://127.0.0.1/x", "ws://127.0.0.1/x",
    ] {
      let url = try XCTUnwrap(URL(string: text))
      let error = try failure(Request(url: url), .invalidRequest)
      XCTAssert(error.reason.contains(text), error.reason)
    }
  }
}
