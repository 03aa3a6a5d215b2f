import Foundation
import LoopbackServer
import PortableFoundation
import TestSupport
import XCTest

final class TestServerTests: XCTestCase {
  private func exchange(_ server: TestServer, _ text: String, until end: String? = nil) throws -> String {
    let client = try RawClient(port: server.port)
    client.send(text)
    return client.receive(until: end).text
  }

  private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" }

  func test_aResponseHasAContentLength() throws {
    let server = try TestServer { .text("you asked for \($0.path)") }
    let reply = try exchange(server, get("/a?b=c"))
    XCTAssert(reply.hasPrefix("HTTP/1.1 200 OK\r\n"), reply)
    XCTAssert(reply.contains("Content-Length: 16\r\n"), reply)
    XCTAssert(reply.hasSuffix("\r\n\r\nyou asked for /a"), reply)
  }

  func test_pipelinedRequestsGetResponsesInOrder() throws {
    let server = try TestServer { request in
      TestServer.Response.text(request.path).delayed(by: request.path == "/1" ? 0.02 : 0)
    }
    let requests = "GET /1 HTTP/1.1\r\n\r\n\r\nGET /2 HTTP/1.1\r\n\r\n" + get("/3")
    let reply = try exchange(server, requests)
    let bodies = reply.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.prefix(2) }
    XCTAssertEqual(bodies, ["/1", "/2", "/3"])
    XCTAssertEqual(server.connectionCount, 1)
    XCTAssertEqual(server.requests.map(\.path), ["/1", "/2", "/3"])
  }

  func test_aDelayOfAnyLengthEndsNoServer() throws {
    let server = try TestServer { request in
      .text("late").delayed(by: Double(request.query("seconds") ?? "") ?? 0)
    }
    for seconds in ["9223372036854775807", "inf", "1e300"] {
      let waiting = try RawClient(port: server.port)
      waiting.send(get("/?seconds=\(seconds)"))
    }
    for seconds in ["-1", "-inf", "nan"] {
      XCTAssert(try exchange(server, get("/?seconds=\(seconds)")).hasSuffix("late"), seconds)
    }
  }

  func test_aThousandPipelinedRequestsSucceed() throws {
    let server = try TestServer { .text($0.path) }
    let text = String(repeating: "GET /x HTTP/1.1\r\n\r\n", count: 1000) + get("/last")
    XCTAssert(try exchange(server, text).hasSuffix("/last"))
    XCTAssertEqual(server.requestCount, 1001)
    XCTAssertEqual(server.requests.count, 256)
  }

  func test_bodiesWithContentLengthAndChunkedBodiesAreRead() throws {
    let server = try TestServer { .text($0.text.uppercased()) }
    let fixed = "POST / HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
    XCTAssert(try exchange(server, fixed).hasSuffix("ABC"))
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    let chunks = "3;note=x\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
    XCTAssert(try exchange(server, head + chunks).hasSuffix("ABCDE"))
  }

  func test_aRequestInSingleBytesIsRead() throws {
    let server = try TestServer { .text($0.text) }
    let client = try RawClient(port: server.port)
    for character in "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n" {
      client.send(String(character))
    }
    XCTAssert(client.receive(until: "wxyz").text.hasSuffix("wxyz"))
  }

  func test_aStreamedResponseIsChunked() throws {
    let server = try TestServer { _ in .stream([.init("one"), .init("three", after: 0.01)]) }
    let reply = try exchange(server, get("/"))
    XCTAssert(reply.hasSuffix("\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"), reply)
  }

  func test_aPulledBodyHasTheChunksOfItsSource_andNoneOfAnEmptyArray() throws {
    let texts = Locked(["one", "", "three"])
    let server = try TestServer { _ in
      .init(body: .pulled(every: 0) { texts.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
    }
    let reply = try exchange(server, get("/"))
    XCTAssert(reply.hasSuffix("\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"), reply)
  }

  func test_aPulledBodyAsksItsSourceOnlyAsLongAsTheClientReads() async throws {
    let asked = Locked(0)
    let server = try TestServer { request in
      guard request.path == "/" else { return .text("ok") }
      return .init(
        body: .pulled(every: 0.001) {
          asked.withLock { $0 += 1 }
          return [UInt8](repeating: 97, count: 1 << 20)
        })
    }
    var slow: RawClient? = try RawClient(port: server.port)
    slow?.send("GET / HTTP/1.1\r\n\r\n")
    _ = slow?.receive(until: "a")
    // The sockets are full when the system accepts no byte during twenty other requests.
    var before = -1
    while server.sentByteCount - before > 4_000 {
      before = server.sentByteCount
      for _ in 0..<20 { XCTAssert(try exchange(server, get("/other")).hasSuffix("ok")) }
    }
    XCTAssertLessThan(asked.withLock { $0 }, 40, "the source is not asked for bytes that nobody reads")
    slow = nil
    try await eventually("the condition holds") { server.openConnectionCount == 0 }
    let after = asked.withLock { $0 }
    XCTAssert(try exchange(server, get("/other")).hasSuffix("ok"))
    XCTAssertEqual(asked.withLock { $0 }, after, "the source of a closed connection is not asked")
  }

  func test_theBodyLimitOfARequestIsCheckedBeforeItsBodyIsRead() throws {
    let server = try TestServer(maxBodySize: { $0.path == "/large" ? 5 : 0 }) { .text($0.text) }
    func post(_ path: String, _ framing: String, _ body: String) throws -> String {
      try exchange(server, "POST \(path) HTTP/1.1\r\nConnection: close\r\n\(framing)\r\n\r\n\(body)")
    }
    XCTAssert(try post("/large", "Content-Length: 5", "abcde").hasSuffix("abcde"))
    XCTAssert(try post("/large", "Content-Length: 6", "").hasPrefix("HTTP/1.1 413 "))
    XCTAssert(try post("/", "Content-Length: 1", "").hasPrefix("HTTP/1.1 413 "))
    XCTAssert(try post("/large", "Transfer-Encoding: chunked", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").hasSuffix("abcde"))
    XCTAssert(try post("/large", "Transfer-Encoding: chunked", "3\r\nabc\r\n3\r\n").hasPrefix("HTTP/1.1 413 "))
    XCTAssert(try exchange(server, get("/")).hasPrefix("HTTP/1.1 200 "), "a request without a body has no limit")
  }

  func test_theServerSends100Continue() throws {
    let server = try TestServer { .text($0.text) }
    let client = try RawClient(port: server.port)
    client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    XCTAssertEqual(client.receive(until: "\r\n\r\n").text, "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("ok")
    XCTAssert(client.receive(until: "ok").text.hasSuffix("ok"))
  }

  func test_aCutRequestIsHandledWithTheBytesBeforeTheCut_andEndsTheConnection() throws {
    let server = try TestServer(cut: { $0.header("X-Cut").flatMap { Int($0) } }, handler: { .text("<\($0.text)>") })
    for (cut, body) in [("0", ""), ("3", "abc"), ("6", "abcdef"), ("7", "abcdef"), ("-1", "")] {
      let client = try RawClient(port: server.port)
      client.send("PUT / HTTP/1.1\r\nX-Cut: \(cut)\r\nContent-Length: 6\r\n\r\n")
      // The rest of a cut body is not needed for the response.
      client.send(cut.count == 1 ? String("abcdef".prefix(Int(cut) ?? 0)) : "")
      let reply = client.receive(until: ">").text
      XCTAssert(reply.contains("<\(body)>"), "\(cut): \(reply)")
      XCTAssertEqual(reply.contains("Connection: close"), body != "abcdef", cut)
    }
  }

  func test_aheadResponseHasNoBody_andTheConnectionIsReused() throws {
    let server = try TestServer { _ in .text("body") }
    let reply = try exchange(server, "HEAD / HTTP/1.1\r\n\r\n" + get("/"))
    XCTAssertEqual(reply.components(separatedBy: "body").count, 2, reply)
    XCTAssertEqual(reply.components(separatedBy: "Content-Length: 4").count, 3, reply)
  }

  func test_invalidHTTPIsRejectedWith400() throws {
    let server = try TestServer { _ in .text("never") }
    let overflow = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n7fffffffffffffff\r\n"
    let unbroken = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc0\r\n\r\n"
    for text in [
      "nonsense\r\n\r\n", unbroken, "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
      XCTAssert(try exchange(server, text).hasPrefix("HTTP/1.1 400 "), text)
    }
    XCTAssert(try exchange(server, overflow).hasPrefix("HTTP/1.1 413 "))
    XCTAssertEqual(server.requestCount, 0)
  }

  func test_routesMatchParametersMethodsAndPrefixes() throws {
    var routes = TestServer.Routes()
    routes.on("GET", "/user/:id/posts/:post") { request in
      .text("\(request.parameters["id"] ?? "") \(request.parameters["post"] ?? "") \(request.query("q") ?? "")")
    }
    routes.on(nil, "/files/*") { .text($0.path) }
    let server = try TestServer(routes: routes)
    XCTAssert(try exchange(server, get("/user/a%20b/posts/7?q=x+%26")).hasSuffix("a b 7 x &"))
    XCTAssert(try exchange(server, get("/files/a/b")).hasSuffix("/files/a/b"))
    XCTAssert(try exchange(server, get("/user/1")).hasPrefix("HTTP/1.1 404 "))
    let post = "POST /user/1/posts/2 HTTP/1.1\r\nConnection: close\r\n\r\n"
    XCTAssert(try exchange(server, post).hasPrefix("HTTP/1.1 405 "))
  }

  func test_headerNamesAreCaseInsensitive_andDuplicatesAreKept() throws {
    let server = try TestServer { .text($0.headerValues("x-list").joined(separator: "|")) }
    let text = "GET / HTTP/1.1\r\nX-List: a\r\nx-LIST:  b \r\nConnection: close\r\n\r\n"
    XCTAssert(try exchange(server, text).hasSuffix("a|b"))
  }

  func test_faultsEndTheConnection() throws {
    var routes = TestServer.Routes()
    routes.on(nil, "/close") { _ in .closeBeforeHead }
    routes.on(nil, "/reset") { _ in .resetMidBody(promised: 10, sent: 3) }
    routes.on(nil, "/cut") { _ in .truncatedBody(promised: 10, sent: 3) }
    let server = try TestServer(routes: routes)
    XCTAssertEqual(try exchange(server, get("/close")), "")
    let cut = try exchange(server, get("/cut"))
    XCTAssert(cut.contains("Content-Length: 10\r\n"), cut)
    XCTAssert(cut.hasSuffix("\r\n\r\nxxx"), cut)
    let client = try RawClient(port: server.port)
    client.send(get("/reset"))
    XCTAssertEqual(client.receive(until: nil).failure, ECONNRESET)
  }

  func test_aDelayDoesNotBlockOtherConnections() throws {
    let server = try TestServer { request in
      request.path == "/never" ? .neverResponding : .text("now")
    }
    let stuck = try RawClient(port: server.port)
    stuck.send(get("/never"))
    XCTAssert(try exchange(server, get("/")).hasSuffix("now"))
  }

  func test_hundredsOfConnectionsAreServed() throws {
    let server = try TestServer { _ in .text("ok") }
    let clients = try (0..<400).map { _ in try RawClient(port: server.port) }
    for client in clients { client.send("GET / HTTP/1.1\r\n\r\n") }
    for client in clients { XCTAssert(client.receive(until: "ok").text.hasSuffix("ok")) }
    XCTAssertEqual(server.openConnectionCount, 400)
    withExtendedLifetime(clients) {}  // the optimizer would release the clients that have read
  }

  func test_aBodyOfSeveralMegabytesIsSentCompletely() throws {
    let body = [UInt8](repeating: 97, count: 8 << 20)
    let server = try TestServer { _ in .bytes(body) }
    let reply = try exchange(server, get("/"))
    XCTAssertEqual(reply.components(separatedBy: "\r\n\r\n").last?.utf8.count, body.count)
  }

  func test_aSocketSendsAllOutputBeforeItsEnd() throws {
    // With one of these counts, the buffers of both sides are full exactly when the script ends.
    let frame = [UInt8](repeating: 97, count: 100_000)
    for count in 1...80 { XCTAssertEqual(try bytesOfSocket(frame, times: count, waits: true), count * frame.count) }
  }

  func test_aSocketSendsItsWholeScriptWheneverTheClientReads() throws {
    // Many frames, so that the client often reads between two attempts of the server to write.
    XCTAssertEqual(try bytesOfSocket([UInt8](repeating: 97, count: 100_000), times: 3000, waits: false), 300_000_000)
  }

  func test_aSocketThatDoesNotReadIsReleasedWhenItsConnectionIsReset() throws {
    let server = try TestServer { _ in .socket(TestServer.WebSocketScript(onOpen: [.stopReading])) }
    var client: RawClient? = try connectSocket(server)
    XCTAssertEqual(server.openConnectionCount, 1)
    client?.resetAtEnd()
    client = nil
    XCTAssert(holds { server.openConnectionCount == 0 })
  }

  private func connectSocket(_ server: TestServer) throws -> RawClient {
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    XCTAssertNotNil(client.receiveHead())
    return client
  }

  /// Returns the number of bytes that a WebSocket sends before its end if its script is `frame`, `count` times.
  ///
  /// If `waits`, the client reads when the server has written as much as it can.
  private func bytesOfSocket(_ frame: [UInt8], times count: Int, waits: Bool) throws -> Int {
    let server = try TestServer { _ in
      .socket(TestServer.WebSocketScript(onOpen: Array(repeating: .raw(frame), count: count) + [.end]))
    }
    let client = try connectSocket(server)
    if waits { XCTAssert(holds { server.sentByteCount > 0 } && standsStill(reads: 2) { server.sentByteCount }) }
    var received = 0
    while case let fragment = client.skip(1 << 16), fragment > 0 { received += fragment }
    return received
  }

  func test_aDisconnectedClientEndsOnlyItsConnection() throws {
    let body = [UInt8](repeating: 97, count: 8 << 20)
    let server = try TestServer { $0.path == "/" ? .text("ok") : .bytes(body) }
    for _ in 0..<20 {
      let client = try RawClient(port: server.port)
      client.send("GET /large HTTP/1.1\r\n\r\nGET /large HTTP/1.1\r\n\r\n")
      _ = client.receive(until: "a")
    }
    XCTAssert(try exchange(server, get("/")).hasSuffix("ok"))
  }

  func test_stopClosesAllConnectionsAndMayBeRepeated() throws {
    let server = try TestServer { _ in .neverResponding }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\n\r\n")
    server.stop()
    server.stop()
    XCTAssertEqual(client.receive(until: nil).text, "")
    XCTAssertThrowsError(try RawClient(port: server.port))
  }

  func test_aReleasedServerStops() throws {
    var server: TestServer? = try TestServer { _ in .text("ok") }
    let port = try XCTUnwrap(server?.port)
    server = nil
    XCTAssertThrowsError(try RawClient(port: port))
  }

  func test_anEndlessHeadIsRejectedWith431() throws {
    let server = try TestServer { _ in .text("never") }
    // Exceeds the limit by exactly one byte, so that the server reads all bytes. Unread bytes would reset the
    // connection.
    let head = "GET / HTTP/1.1\r\nX: ".padding(toLength: 65_537, withPad: "x", startingAt: 0)
    XCTAssert(try exchange(server, head).hasPrefix("HTTP/1.1 431 "))
    XCTAssertEqual(server.requestCount, 0)
  }

  func test_anHTTP10ConnectionIsClosed() throws {
    let server = try TestServer { _ in .text("ok") }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.0\r\n\r\n")
    let (reply, failure) = client.receive(until: nil)
    XCTAssert(reply.hasSuffix("ok"), reply)
    XCTAssertNil(failure, "it ends")
  }
}
