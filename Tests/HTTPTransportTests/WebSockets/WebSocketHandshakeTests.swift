import Foundation
import PortableFoundation
import XCTest

@testable import HTTPTransport

/// Tests of the WebSocket handshake: the request that is sent, and the responses that are accepted.
final class WebSocketHandshakeTests: XCTestCase {
  private func head(_ url: String, _ headers: HTTPHeaders = [:], _ options: WebSocketOptions = .init()) throws
    -> [String]
  {
    let request = Request(url: try XCTUnwrap(URL(string: url)), headers: headers)
    let bytes = WebSocketHandshake(options, offersCompression: options.compression).head(of: request, cookies: "a=1")
    return String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
  }

  func test_theRequestHasHostTargetAndOffers() throws {
    let lines = try head(
      "http://h:8080/a%20b?x=1#f", ["X-A": "1"], WebSocketOptions(subprotocols: ["chat", "v2"], compression: true))
    XCTAssertEqual(lines[0], "GET /a%20b?x=1 HTTP/1.1")
    for line in [
      "Host: h:8080", "X-A: 1", "Cookie: a=1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Protocol: chat, v2", "Sec-WebSocket-Extensions: permessage-deflate",
    ] { XCTAssertTrue(lines.contains(line), line) }
    XCTAssertEqual(lines.suffix(2), ["", ""])
    XCTAssertTrue(try head("https://h:443").contains("Host: h"))
    XCTAssertEqual(try head("https://h?x=1")[0], "GET /?x=1 HTTP/1.1")
    XCTAssertTrue(try head("http://[::1]:81/").contains("Host: [::1]:81"))
    XCTAssertTrue(try head("http://u:p@h/").contains("Authorization: Basic dTpw"))
    XCTAssertFalse(try head("http://u:p@h/").contains { $0.hasPrefix("Host: u") })
  }

  func test_aZoneIsNotSent_andCanNotContainEscapes() throws {
    XCTAssertTrue(try head("http://[fe80::1%25eth0]:81/").contains("Host: [fe80::1]:81"))
    for zone in ["%0d%0aX%3a1", "%0d%0a%0d%0a", "%00", "%09", "a%0a", "%2561", ""] {
      let url = try XCTUnwrap(URL(string: "http://[::1%25\(zone)]:81/"))
      let problem = try XCTUnwrap(WebSocketHandshake.problem(of: Request(url: url), WebSocketOptions()), zone)
      XCTAssertEqual(problem.kind, .invalidRequest)
      XCTAssertFalse(problem.reason.utf8.contains { $0 < 0x20 }, problem.reason.debugDescription)
      XCTAssertFalse(url.hostAndPort.utf8.contains { $0 < 0x20 }, url.hostAndPort.debugDescription)
    }
  }

  func test_eachKeyIsUniqueAndHas16Bytes() {
    let keys = Set((0..<100).map { _ in WebSocketHandshake(WebSocketOptions(), offersCompression: false).key })
    XCTAssertEqual(keys.count, 100)
    XCTAssertEqual(Data(base64Encoded: keys.first ?? "")?.count, 16)
  }

  private func agreement(
    _ fields: [(String, String)], _ options: WebSocketOptions = .init(), accept: String? = nil
  ) -> Result<WebSocketHandshake.Agreement, WebSocketFrame.Violation> {
    let handshake = WebSocketHandshake(options, offersCompression: options.compression)
    var headers = HTTPHeaders()
    for (name, value) in fields { headers.append(name, value) }
    headers.append("Sec-WebSocket-Accept", accept ?? handshake.accept)
    return Result { () throws(WebSocketFrame.Violation) in try handshake.check(headers) }
  }

  func test_aResponseMustBeAWebSocketUpgradeWithTheCorrectKey() {
    let good = [("Upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade")]
    XCTAssertEqual(try agreement(good).get(), .init())
    func assertFails(_ fields: [(String, String)], accept: String? = nil, line: UInt = #line) {
      XCTAssertThrowsError(try agreement(fields, accept: accept).get(), line: line)
    }
    assertFails([("Connection", "Upgrade")])
    assertFails([("Upgrade", "websocket")])
    assertFails([("Upgrade", "h2c"), ("Connection", "Upgrade")])
    assertFails([("Upgrade", "websocket"), ("Connection", "close")])
    assertFails(good, accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    assertFails(good, accept: "")
    assertFails(good + [("Sec-WebSocket-Protocol", "chat")])
    assertFails(good + [("Sec-WebSocket-Extensions", "permessage-deflate")])
    assertFails(good + [("Sec-WebSocket-Extensions", "x-other")])
    assertFails(good + [("Sec-WebSocket-Accept", "other")])
  }

  func test_theServerMayChooseOnlyFromTheOffers() {
    let good = [("Upgrade", "websocket"), ("Connection", "Upgrade")]
    let options = WebSocketOptions(subprotocols: ["a", "b"], compression: true)
    XCTAssertNoThrow(try agreement(good + [("Sec-WebSocket-Protocol", "b")], options).get())
    XCTAssertThrowsError(try agreement(good + [("Sec-WebSocket-Protocol", "c")], options).get())
    XCTAssertThrowsError(try agreement(good + [("Sec-WebSocket-Protocol", "a, b")], options).get())
    func deflate(_ value: String) -> WebSocketHandshake.Agreement? {
      try? agreement(good + [("Sec-WebSocket-Extensions", value)], options).get()
    }
    XCTAssertEqual(deflate("permessage-deflate"), .init(compresses: true))
    XCTAssertEqual(
      deflate("permessage-deflate; client_no_context_takeover; server_max_window_bits=\"10\""),
      .init(compresses: true, resetsCompression: true))
    XCTAssertEqual(deflate("permessage-deflate; server_no_context_takeover"), .init(compresses: true))
    for value in [
      "permessage-deflate; client_max_window_bits=9", "permessage-deflate; server_max_window_bits=16",
      "permessage-deflate; x", "permessage-deflate, permessage-deflate", "permessage-bzip2",
    ] { XCTAssertNil(deflate(value), value) }
  }

  func test_fieldsOfTheHandshakeAndOtherMethodsThanGETAreRejected() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    func problem(_ request: Request, _ options: WebSocketOptions = .init()) -> String? {
      let problem = WebSocketHandshake.problem(of: request, options)
      if let problem { XCTAssertEqual(problem.kind, .invalidRequest) }
      return problem?.reason
    }
    XCTAssertNil(problem(Request(url: url)))
    XCTAssertNotNil(problem(Request(method: .post, url: url)))
    XCTAssertNotNil(problem(Request(url: url, body: .data(Data("x".utf8)))))
    XCTAssertNotNil(problem(Request(url: url, headers: ["Sec-WebSocket-Protocol": "chat"])))
    XCTAssertNotNil(problem(Request(url: url, headers: ["Upgrade": "h2c"])))
    XCTAssertNotNil(problem(Request(url: url, headers: ["X": "a\r\nb"])))
    XCTAssertNotNil(problem(Request(url: url), WebSocketOptions(subprotocols: ["a b"])))
    XCTAssertNotNil(problem(Request(url: url), WebSocketOptions(subprotocols: ["a", "a"])))
    XCTAssertNotNil(problem(Request(url: url), WebSocketOptions(maxMessageSize: -1)))
    for options in [
      WebSocketOptions(pongTimeout: .zero), .init(pingInterval: .zero), .init(pingInterval: .seconds(-1)),
    ] {
      XCTAssert(problem(Request(url: url), options)?.contains(" s; set a positive duration, or nil") == true)
    }
    XCTAssertNil(problem(Request(url: url), WebSocketOptions(pingInterval: nil, pongTimeout: nil)))
  }

  // MARK: The response

  private func read(_ text: String) -> String {
    func run(_ fragments: [[UInt8]]) -> String {
      var opening = WebSocketOpening()
      do {
        for fragment in fragments {
          fragment.withUnsafeBytes { opening.feed($0) }
          switch try opening.next() {
          case .needsInput: continue
          case .open(let headers, let rest):
            return "open \(headers.count) \(fragments.count == 1 ? String(decoding: rest, as: UTF8.self) : "")"
          case .response(let status, _, let body): return "\(status) \(String(decoding: body, as: UTF8.self))"
          }
        }
        if case .response(let status, _, let body)? = opening.ended() {
          return "\(status) \(String(decoding: body, as: UTF8.self)) at the end"
        }
        return "incomplete"
      } catch {
        return "failure"
      }
    }
    let whole = run([Array(text.utf8)])
    if !whole.hasPrefix("open") { XCTAssertEqual(run(Array(text.utf8).map { [$0] }), whole, text) }
    return whole
  }

  func test_responsesAreReadWithTheirBodies() {
    XCTAssertEqual(read("HTTP/1.1 101 Switching\r\nA: 1\r\n\r\nxy"), "open 1 xy")
    XCTAssertEqual(read("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 101 S\r\n\r\n"), "open 0 ")
    XCTAssertEqual(read("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno!"), "401 no")
    XCTAssertEqual(read("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), "401 ")
    XCTAssertEqual(
      read("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nno\r\n1\r\n!\r\n0\r\n\r\n"), "500 no!")
    XCTAssertEqual(read("HTTP/1.0 200 OK\r\n\r\nhello"), "200 hello at the end")
    XCTAssertEqual(read("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n"), "204 ")
    XCTAssertEqual(read("HTTP/1.1 401 No\r\nContent-Length: 5\r\n\r\nno"), "401 no at the end")
    XCTAssertEqual(
      read("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nno"), "500 no at the end")
    XCTAssertEqual(read("HTTP/1.1 101 Switching\r\nA: 1"), "incomplete")
  }

  func test_aResponseThatIsNotHTTPIsRejected() {
    for text in [
      "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/2 101\r\n\r\n", "HTTP/1.1 1x1 S\r\n\r\n", "HTTP/1.1 101 S\r\nno colon\r\n\r\n",
      "HTTP/1.1 101 S\r\n: empty\r\n\r\n", "HTTP/1.1 101 S\r\n folded: 1\r\n\r\n",
      "HTTP/1.1 200 S\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] { XCTAssertEqual(read(text), "failure", text) }
  }

  func test_informationalHeadsCountTowardTheHeadSizeLimit() throws {
    var opening = WebSocketOpening()
    XCTAssertThrowsError(
      try {
        for _ in 0..<5000 {
          Array("HTTP/1.1 103 Hints\r\n\r\n".utf8).withUnsafeBytes { opening.feed($0) }
          _ = try opening.next()
        }
      }())
  }

  func test_manyTinyChunksUseOnlyTheMemoryOfTheirBytes() throws {
    var opening = WebSocketOpening()
    Array("HTTP/1.1 500 S\r\nTransfer-Encoding: chunked\r\n\r\n".utf8).withUnsafeBytes { opening.feed($0) }
    _ = try opening.next()
    let count = 200_000
    let bytes = Array(String(repeating: "1\r\nx\r\n", count: count).utf8)
    let start = Date()
    bytes.withUnsafeBytes { opening.feed($0) }
    _ = try opening.next()
    XCTAssertLessThan(Date().timeIntervalSince(start), 10, "a step per chunk moves all that follows")
    guard case .response(500, _, let body)? = opening.ended() else { return XCTFail("no response") }
    XCTAssertEqual(body.count, count)
  }

  func test_anOverlongChunkSizeIsRejected() {
    XCTAssertEqual(
      read("HTTP/1.1 500 S\r\nTransfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "x", count: 2000))"), "failure")
    for (length, expected) in [(1021, "500 no!"), (1022, "failure")] {
      let size = "3;\(String(repeating: "x", count: length))\n"
      XCTAssertEqual(read("HTTP/1.1 500 S\r\nTransfer-Encoding: chunked\r\n\r\n\(size)no!\r\n0\r\n\r\n"), expected)
    }
  }

  func test_anEndlessHeadAndAnEndlessBodyFailAtTheirLimits() throws {
    var opening = WebSocketOpening()
    let line = Array("X: \(String(repeating: "x", count: 1000))\r\n".utf8)
    Array("HTTP/1.1 101 S\r\n".utf8).withUnsafeBytes { opening.feed($0) }
    XCTAssertThrowsError(
      try {
        for _ in 0..<200 {
          line.withUnsafeBytes { opening.feed($0) }
          _ = try opening.next()
        }
      }())
    for head in ["Content-Length: 99999999999\r\n", "", "Transfer-Encoding: chunked\r\n"] {
      opening = WebSocketOpening()
      Array("HTTP/1.1 500 S\r\n\(head)\r\n".utf8).withUnsafeBytes { opening.feed($0) }
      let chunk = Array("3e8\r\n\(String(repeating: "x", count: 1000))\r\n".utf8)
      var size: Int?
      for _ in 0..<3000 where size == nil {
        chunk.withUnsafeBytes { opening.feed($0) }
        if case .response(_, _, let body) = try opening.next() { size = body.count }
      }
      XCTAssertEqual(size, 1 << 20, head)
    }
  }
}
