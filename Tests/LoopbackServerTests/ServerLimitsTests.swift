import TestSupport
import XCTest

@testable import LoopbackServer

/// Clients that send or keep more than the server can use. Each sends at most 64 MB.
final class ServerLimitsTests: XCTestCase {
  private static let flood = 64 << 20
  /// The sockets of both sides hold some MB.
  private static let room = 32 << 20

  func test_clientThatSendsRequestsAndReadsNothing_isNotReadFurther() throws {
    let body = String(repeating: "b", count: 4_096)
    let server = try TestServer { _ in .text(body) }
    let client = try RawClient(port: server.port)
    let request = Array("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 8_192))\r\n\r\n".utf8)
    let sent = client.flood(request, upTo: Self.flood)
    XCTAssertLessThan(sent, Self.room)
    // It continues when the client reads.
    let whole = sent / request.count
    XCTAssertGreaterThan(whole, 100)
    client.send(request[(sent % request.count)...])
    XCTAssertNotNil(client.read(whole * body.utf8.count))
    XCTAssertTrue(holds { server.requestCount == whole + 1 })
  }

  func test_lineOfAChunkWithoutEnd_endsTheConnection() throws {
    for start in ["1", "1;a=", "\r1", "1\ra"] {
      let server = try TestServer { .text($0.text) }
      let client = try RawClient(port: server.port)
      client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + start)
      XCTAssertLessThan(client.flood(Array(repeating: 0x31, count: 4_096), upTo: Self.flood), Self.room, start)
      XCTAssertTrue(holds { server.openConnectionCount == 0 }, start)
    }
  }

  func test_emptyLinesWithoutARequest_areNotKept() {
    var parser = RequestParser()
    [UInt8(13)].withUnsafeBytes { parser.append($0) }
    let lines = (0..<64 << 10).map { $0.isMultiple(of: 2) ? UInt8(10) : 13 }
    for _ in 0..<100 {
      _ = parser.next(connection: 1)
      lines.withUnsafeBytes { parser.append($0) }
    }
    _ = parser.next(connection: 1)
    XCTAssertLessThan(parser.bufferedCount, 200_000)
  }

  func test_logOfAllRequests_hasNoLimit() throws {
    let server = try TestServer(maxLoggedRequests: .max) { _ in .text("ok") }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\n\r\n")
    XCTAssertTrue(holds { server.requests.count == 1 })
  }

  func test_trailersWithoutEnd_endTheConnection() throws {
    let server = try TestServer { .text($0.text) }
    let client = try RawClient(port: server.port)
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    XCTAssertLessThan(client.flood(Array("a: b\r\n".utf8), upTo: Self.flood), Self.room)
    XCTAssertTrue(holds { server.openConnectionCount == 0 })
  }

  func test_linesOfChunksBeyondTheLimit_haveStatus431() throws {
    let server = try TestServer { .text("<\($0.text)>") }
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    for (start, count) in [("1;", 65_536), ("0\r\n", 65_537), ("1\r\na\r\n0\r\nb: c\r\n", 65_531)] {
      let client = try RawClient(port: server.port)
      client.send(head + start + String(repeating: "a", count: count))
      XCTAssert(client.receive(until: nil).text.hasPrefix("HTTP/1.1 431 "), start)
    }
    let client = try RawClient(port: server.port)
    let comment = String(repeating: "a", count: 65_000)
    client.send(head + "1;\(comment)\r\na\r\n1;\(comment)\r\nb\r\n0\r\nc: \(comment)\r\n\r\n")
    XCTAssert(client.receive(until: ">").text.hasSuffix("<ab>"))
  }

  func test_socketWhoseScriptWaits_isNotReadFurther() throws {
    let server = try TestServer { _ in .socket(TestServer.WebSocketScript(onOpen: [.wait(1_000)])) }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    XCTAssert(client.receive(until: "\r\n\r\n").text.hasPrefix("HTTP/1.1 101 "))
    let frame = TestServer.WebSocketScript.frame(2, [UInt8](repeating: 1, count: 4_096))
    XCTAssertLessThan(client.flood(frame, upTo: Self.flood), Self.room)
    XCTAssertEqual(server.openConnectionCount, 1)
  }

  func test_socketWhoseClientReadsNothing_isNotReadFurther() throws {
    let server = try TestServer { _ in .socket(.echo) }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    XCTAssert(client.receive(until: "\r\n\r\n").text.hasPrefix("HTTP/1.1 101 "))
    let frame = TestServer.WebSocketScript.frame(2, [UInt8](repeating: 1, count: 65_536))
    let sent = client.flood(frame, upTo: Self.flood)
    XCTAssertLessThan(sent, Self.room)
    // It continues when the client reads: all whole messages return.
    XCTAssertNotNil(client.read(sent / frame.count * frame.count))
  }

  func test_messageBeyondTheLimit_isClosedWith1009() {
    let frame = TestServer.WebSocketScript.frame
    for frames in [
      [frame(2, [], true, 0, false, 101)], [frame(2, [], true, 0, false, 1 << 62)],
      [frame(2, [], true, 0, false, .max)],
      [frame(2, [UInt8](repeating: 1, count: 60), false, 0, false, nil), frame(0, [], true, 0, false, 41)],
    ] {
      var socket = ServerSocket(.echo, limit: 100)
      for bytes in frames { bytes.withUnsafeBytes { socket.feed($0) } }
      guard case .bytes([0x88, 2, 0x03, 0xF1]) = socket.next() else { return XCTFail("\(frames.last ?? [])") }
      guard case .end(isReset: false) = socket.next(), case .end = socket.next() else { return XCTFail("no end") }
      XCTAssertFalse(socket.reads)
    }
    var socket = ServerSocket(.echo, limit: 100)
    let whole = frame(2, [UInt8](repeating: 1, count: 100), true, 0, false, nil)
    whole.withUnsafeBytes { socket.feed($0) }
    guard case .bytes(whole) = socket.next() else { return XCTFail("a message of the limit returns") }
  }

  func test_chunksWithLongLines_areNotKept() {
    var parser = RequestParser()
    func feed(_ text: String) -> RequestParser.Step {
      Array(text.utf8).withUnsafeBytes { parser.append($0) }
      return parser.next(connection: 1, limit: { _ in 1_000 })
    }
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    let line = "1;" + String(repeating: "x", count: 60_000)
    guard case .incomplete = feed(head + line) else { return XCTFail("head") }
    for _ in 0..<50 {
      guard case .incomplete = feed("\r\na\r\n" + line) else { return XCTFail("chunk") }
      XCTAssertLessThan(parser.bufferedCount, 200_000)
    }
    guard case .request(let request, keepAlive: true) = feed("\r\na\r\n0\r\n\r\n") else { return XCTFail("end") }
    XCTAssertEqual(request.body.count, 51)
    guard case .request(_, keepAlive: true) = feed("GET / HTTP/1.1\r\n\r\n") else { return XCTFail("next") }
  }

  func test_chunkOfAnySize_isReadWithoutTrap() {
    for size in ["7fffffffffffffff", "7ffffffffffffffe", "8000000000000000", "-1"] {
      var parser = RequestParser()
      Array("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n\(size)\r\n".utf8)
        .withUnsafeBytes { parser.append($0) }
      switch parser.next(connection: 1, limit: { _ in .max }) {
      case .incomplete, .malformed(status: 400), .malformed(status: 413): break
      default: XCTFail(size)
      }
    }
  }

  func test_connectionsBeyondTheLimit_waitUntilOneCloses() throws {
    let server = try TestServer(maxConnections: 2) { .text("<\($0.path)>") }
    var first: RawClient? = try RawClient(port: server.port)
    first?.send("GET /1 HTTP/1.1\r\n\r\n")
    XCTAssertEqual(first?.receive(until: ">").text.hasSuffix("</1>"), true)
    let others = try (0..<2).map { _ in try RawClient(port: server.port) }
    for client in others { client.send("GET /2 HTTP/1.1\r\n\r\n") }
    XCTAssert(others[0].receive(until: ">").text.hasSuffix("</2>"))
    first?.send("GET /3 HTTP/1.1\r\n\r\n")
    XCTAssertEqual(first?.receive(until: ">").text.hasSuffix("</3>"), true)
    XCTAssertEqual(server.connectionCount, 2)
    first = nil
    XCTAssert(others[1].receive(until: ">").text.hasSuffix("</2>"))
    XCTAssertEqual(server.connectionCount, 3)
    XCTAssertTrue(holds { server.openConnectionCount == 2 })
  }

  func test_connectionDuringAShortageOfDescriptors_isAcceptedAfterwards() throws {
    let server = try TestServer { .text("<\($0.path)>") }
    var client: RawClient?
    withoutDescriptors(but: 1) {
      // A thread of another test may have taken the last descriptor for a moment.
      XCTAssertTrue(
        holds {
          client = client ?? (try? RawClient(port: server.port))
          return client != nil
        })
      client?.send("GET /1 HTTP/1.1\r\n\r\n")
      XCTAssertTrue(standsStill { server.connectionCount })
    }
    // No other connection closes.
    XCTAssertEqual(client?.receive(until: ">").text.hasSuffix("</1>"), true)
  }
}
