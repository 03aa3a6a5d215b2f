#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of HTTP/2 without TLS: `HTTPVersion.http2` with an `http` URL.
  final class CleartextHTTP2Tests: XCTestCase {
    private func request(
      _ url: URL, _ method: HTTPMethod = .get, _ version: NetLayer.Request.HTTPVersion = .http2,
      body: Data? = nil
    ) -> NetLayer.Request {
      var request = Request(method: method, url: url, body: body.map { .data($0) } ?? .none)
      request.options.httpVersion = version
      return request
    }

    private func skipWithoutHTTP2() throws {
      try XCTSkipUnless(CurlLibrary.speaksHTTP2, "requires libcurl 8.14 with HTTP/2")
    }

    /// The server: HTTP/2 on connections that start with its preface, and HTTP/1.1 on all others. No other test server
    /// supports both on one port. An HTTP/1.1 response contains the number of the connection.
    private static let serve: @Sendable (RawClient, Int) -> Void = { client, number in
      var isFirst = true
      while let head = client.receiveHead() {
        if head.hasPrefix("PRI * HTTP/2.0\r\n") { return isFirst ? serveHTTP2(client) : client.resetAtEnd() }
        isFirst = false
        let body = "\(number)"
        client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      }
    }

    private static func serveHTTP2(_ client: RawClient) {
      guard client.read(6) == Array("SM\r\n\r\n".utf8) else { return }
      func send(_ type: UInt8, _ flags: UInt8, _ stream: [UInt8], _ payload: [UInt8] = []) {
        client.send(([0, 0, UInt8(payload.count), type, flags] + stream + payload)[...])
      }
      send(4, 0, [0, 0, 0, 0])
      while let frame = client.read(9) {
        let length = Int(frame[0]) << 16 | Int(frame[1]) << 8 | Int(frame[2])
        guard length == 0 || client.read(length) != nil else { return }
        // Acknowledges SETTINGS, and responds to a complete request with `:status: 200` and no body.
        if frame[3] == 4, frame[4] & 1 == 0 { send(4, 1, [0, 0, 0, 0]) }
        if frame[3] <= 1, frame[4] & 1 == 1 { send(1, 5, Array(frame[5...]), [0x88]) }
      }
    }

    func test_requestsShareAConnectionWithoutTLS() throws {
      try skipWithoutHTTP2()
      let nginx = try NginxServer(
        server: "location / { add_header X-Connection $connection; return 200 $server_protocol; }", files: [:],
        isCleartextHTTP2: true)
      defer { nginx.stop() }
      let transport = try CurlTransport()
      let pendingCalls = (0..<20).map { _ in PendingCall(self) }
      for pending in pendingCalls { _ = pending.send(request(nginx.url), on: transport) }
      var connections: Set<String?> = []
      for pending in pendingCalls {
        let response = try pending.outcome().get()
        XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "HTTP/2.0")
        XCTAssertEqual(response.metrics?.httpVersion, "2")
        connections.insert(response.headers["X-Connection"])
      }
      // A few may have started before it was known that one connection can serve all.
      XCTAssertLessThanOrEqual(connections.count, 6)
      let last = try outcome(request(nginx.url, .post, body: Data(repeating: 0x61, count: 1000)), on: transport)
        .get()
      XCTAssert(connections.contains(last.headers["X-Connection"]))
      // nginx before 1.25 cannot read HTTP/1.1 on this port.
      let plain = try? outcome(request(nginx.url, .get, .http1), on: transport).get()
      XCTAssert(plain == nil || plain?.metrics?.httpVersion == "1.1")
    }

    func test_oneServerGetsBothVersionsOverDifferentConnections() throws {
      try skipWithoutHTTP2()
      let server = try RawServer(Self.serve)
      let transport = try CurlTransport()
      let versions: [(NetLayer.Request.HTTPVersion, String)] = [
        (.automatic, "1.1"), (.http2, "2"), (.http1, "1.1"), (.http2, "2"),
        (.automatic, "1.1"),
        (.http2, "2"), (.http2, "2"),
      ]
      for (version, expected) in versions {
        for method in [HTTPMethod.get, .post] {
          let body = method == .post ? Data("body".utf8) : nil
          let response = try outcome(request(server.url, method, version, body: body), on: transport).get()
          XCTAssertEqual(response.metrics?.httpVersion, expected, "\(version) \(method)")
          XCTAssertEqual(response.status, 200)
        }
      }
    }

    func test_http2OverAUnixSocket_reusesItsConnection() throws {
      try skipWithoutHTTP2()
      let folder = try makeSocketFolder()
      let server = try RawServer(path: folder + "/a", Self.serve)
      let other = try RawServer(path: folder + "/b", Self.serve)
      let transport = try CurlTransport(
        .init(addresses: ["a": .unixSocket(path: folder + "/a"), "b": .unixSocket(path: folder + "/b")]))
      for isReused in [false, true, true] {
        for url in ["http://a/", "http://b/"] {
          let response = try outcome(request(try XCTUnwrap(URL(string: url))), on: transport).get()
          XCTAssertEqual(response.metrics?.httpVersion, "2")
          XCTAssertEqual(response.metrics?.isReused, isReused, url)
        }
      }
      withExtendedLifetime((server, other)) {}
    }

    func test_http2UsesATunnelThroughAProxy() throws {
      try skipWithoutHTTP2()
      let server = try RawServer(Self.serve)
      let proxy = try LoopbackProxy()
      let transport = try CurlTransport(.init(proxy: .url(proxy.url())))
      XCTAssertEqual(try outcome(request(server.url), on: transport).get().metrics?.httpVersion, "2")
      XCTAssert(proxy.heads.allSatisfy { $0.hasPrefix("CONNECT ") }, "\(proxy.heads)")
    }

    func test_withoutHTTP2NothingIsSent() throws {
      let server = try TestServer { _ in .text("never") }
      for transport in try transportsThatLack(CurlLibrary.speaksHTTP2) {
        XCTAssertEqual(TransportSuite.kind(try outcome(request(server.url), on: transport)), .invalidRequest)
      }
      XCTAssertEqual(server.connectionCount, 0)
    }
  }
#endif
