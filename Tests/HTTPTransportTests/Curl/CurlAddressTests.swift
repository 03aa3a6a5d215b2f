#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of connections to an address other than the URL's host: `Configuration.addresses`.
  final class CurlAddressTests: XCTestCase {
    private func outcome(_ url: String, on transport: CurlTransport) throws -> TransportSuite.Outcome {
      let pending = PendingCall(self)
      _ = pending.send(Request(url: try XCTUnwrap(URL(string: url))), on: transport)
      return try pending.outcome()
    }

    private func text(_ url: String, on transport: CurlTransport) throws -> String {
      String(decoding: try outcome(url, on: transport).get().body, as: UTF8.self)
    }

    /// Returns a path in a separate folder, which is removed at the end of the test.
    private func socketPath() throws -> String { try makeSocketFolder() + "/http.sock" }

    /// The server: responds with the Host field and the number of the connection.
    private static let serve: @Sendable (RawClient, Int) -> Void = { client, number in
      while let head = client.receiveHead() {
        let host = head.firstMatch(of: /Host: (.*)\r\n/)?.output.1 ?? "?"
        let body = "\(host) \(number)"
        client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      }
    }

    // MARK: Hosts

    func test_aConnectionUsesTheAddressOfItsHost_andTheHostFieldIsUnchanged() throws {
      let server = try RawServer(Self.serve)
      let transport = try CurlTransport(
        .init(addresses: [
          "API.example.com.": .host("127.0.0.1", port: Int(server.port)), "other.example": .host("127.0.0.1"),
        ]))
      XCTAssertEqual(try text("http://api.example.com/", on: transport), "api.example.com 1")
      XCTAssertEqual(try text("http://Api.Example.com:8080/", on: transport).lowercased(), "api.example.com:8080 2")
      XCTAssertEqual(try text("http://api.example.com/", on: transport), "api.example.com 1", "kept")
      XCTAssertEqual(
        try text("http://other.example:\(server.port)/", on: transport), "other.example:\(server.port) 3")
      XCTAssertEqual(try text(server.url.absoluteString, on: transport), "127.0.0.1:\(server.port) 4", "no other host")
    }

    func test_anEntryWithAPortTakesPrecedenceOverTheHostAlone() throws {
      let (one, two) = (try TestServer { _ in .text("one") }, try TestServer { _ in .text("two") })
      let transport = try CurlTransport(
        .init(addresses: [
          "[::1]:81": .host("127.0.0.1", port: Int(one.port)), "::1": .host("127.0.0.1", port: Int(two.port)),
          "a.example": .host("127.0.0.1", port: Int(one.port)), "a.example:81": .host("127.0.0.1", port: Int(two.port)),
        ]))
      XCTAssertEqual(try text("http://[::1]:81/", on: transport), "one")
      XCTAssertEqual(try text("http://[::1]/", on: transport), "two")
      XCTAssertEqual(try text("http://a.example/", on: transport), "one")
      XCTAssertEqual(try text("http://a.example:81/", on: transport), "two")
    }

    func test_aRedirectUsesTheAddressOfItsHost() throws {
      let target = try TestServer { _ in .text("target") }
      let server = try TestServer { _ in .redirect(to: "http://b.example/", status: 302) }
      let transport = try CurlTransport(
        .init(addresses: [
          "a.example": .host("127.0.0.1", port: Int(server.port)),
          "b.example": .host("127.0.0.1", port: Int(target.port)),
        ]))
      XCTAssertEqual(try text("http://a.example/", on: transport), "target")
    }

    func test_anAddressWithoutAServerIsNamed() throws {
      let server = try TestServer { _ in .text("gone") }
      let port = server.port
      server.stop()
      let transport = try CurlTransport(.init(addresses: ["a.example": .host("127.0.0.1", port: Int(port))]))
      guard case .failure(let error) = try outcome("http://a.example/", on: transport) else { return XCTFail("sent") }
      XCTAssertEqual(error.kind, .connection)
      XCTAssert(error.reason.contains("a.example:80 at 127.0.0.1:\(port)"), error.reason)
      XCTAssert(error.reason.contains("Configuration.addresses"), error.reason)
    }

    func test_invalidAddressesAreRejected() {
      let long = "/" + String(repeating: "x", count: 107)
      for (addresses, words) in [
        (["": .host("a")], #"host """#), (["a/b": .host("a")], #""a/b""#), (["a:0": .host("a")], #""a:0""#),
        (["a:65536": .host("a")], #""a:65536""#), (["a": .host("")], #"of a is """#),
        (["a": .host("b:80")], #""b:80""#), (["a": .host("b", port: 0)], "port 0"),
        (["a": .host("b", port: 65536)], "port 65536"), (["a": .unixSocket(path: "")], "0 bytes"),
        (["a": .unixSocket(path: long)], "108 bytes"), (["a": .unixSocket(path: "/a\0b")], "4 bytes"),
        (["a": .host("b"), "A.": .host("c")], "twice"),
      ] as [([String: AddressOverride], String)] {
        XCTAssertThrowsError(try CurlTransport(.init(addresses: addresses)), words) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
          let reason = (error as? NetworkError)?.reason ?? "\(error)"
          XCTAssert(reason.contains(words) && reason.contains("Configuration.addresses"), reason)
        }
      }
    }

    // MARK: Unix domain sockets

    func test_onlyItsOwnOriginRedirectsToAUnixSocket() throws {
      let path = try socketPath()
      let heads = Notes()
      let local = try RawServer(path: path) { client, _ in
        while let head = client.receiveHead() {
          heads.add(String(head.prefix { $0 != "\r\n" }))
          client.send(
            head.contains("/first")
              ? "HTTP/1.1 307 X\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n"
              : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
      let server = try TestServer { _ in .redirect(to: "http://docker/containers/create?name=x", status: 307) }
      let transport = try CurlTransport(.init(addresses: ["docker": .unixSocket(path: path)]))
      XCTAssertEqual(try text("http://docker/first", on: transport), "ok")
      guard case .failure(let error) = try outcome(server.url.absoluteString, on: transport) else {
        return XCTFail("followed")
      }
      XCTAssertEqual(error.kind, .redirect)
      XCTAssert(error.reason.contains("redirects to http://docker/containers/create?name=x"), error.reason)
      XCTAssertEqual(heads.all, ["GET /first HTTP/1.1", "GET /second HTTP/1.1"])
      withExtendedLifetime(local) {}
    }

    func test_requestsOverAUnixSocket_reuseItsConnection() throws {
      let path = try socketPath()
      let server = try RawServer(path: path, Self.serve)
      // Nothing listens at this proxy: a Unix domain socket does not use it.
      let proxy = try XCTUnwrap(URL(string: "http://127.0.0.1:1/"))
      let transport = try CurlTransport(.init(proxy: .url(proxy), addresses: ["docker": .unixSocket(path: path)]))
      for isReused in [false, true] {
        let response = try outcome("http://docker/info", on: transport).get()
        XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "docker 1")
        XCTAssertEqual(response.metrics?.remoteAddress, path)
        XCTAssertEqual(response.metrics?.isReused, isReused)
      }
      withExtendedLifetime(server) {}
    }

    func test_aUnixSocketHasTheLimitOfRequestsPerConnection() throws {
      guard CurlLibrary.asksBeforeSending else { return }
      let path = try socketPath()
      let server = try RawServer(path: path, Self.serve)
      let transport = try CurlTransport(
        .init(maxRequestsPerConnection: 3, addresses: ["docker": .unixSocket(path: path)]))
      let names = try (0..<6).map { _ in
        String(decoding: try outcome("http://docker/info", on: transport).get().body, as: UTF8.self)
      }
      XCTAssertEqual(names, Array(repeating: "docker 1", count: 3) + Array(repeating: "docker 2", count: 3))
      withExtendedLifetime(server) {}
    }

    func test_originsAndTheirUnixSocketsShareNoConnection() throws {
      let (one, two) = (try socketPath(), try socketPath())
      let servers = [try RawServer(path: one, Self.serve), try RawServer(path: two, Self.serve)]
      let transport = try CurlTransport(.init(addresses: ["a": .unixSocket(path: one), "b": .unixSocket(path: two)]))
      XCTAssertEqual(try text("http://a/", on: transport), "a 1")
      XCTAssertEqual(try text("http://b/", on: transport), "b 1")
      XCTAssertEqual(try text("http://a/", on: transport), "a 1")
      withExtendedLifetime(servers) {}
    }

    func test_unsolicitedBytesOnAUnixSocketAreNotAResponse() throws {
      let path = try socketPath()
      let (sendsMore, hasSent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let server = try RawServer(path: path) { client, number in
        guard client.receiveHead() != nil else { return }
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
        guard sendsMore.wait(timeout: .now() + 60) == .success else { return }
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        hasSent.signal()
        _ = client.receiveHead()
      }
      let other = try TestServer { _ in .text("other") }
      let transport = try CurlTransport(.init(addresses: ["docker": .unixSocket(path: path)]))
      for number in 1...4 {
        XCTAssertEqual(try text("http://docker/", on: transport), "\(number)")
        sendsMore.signal()
        guard hasSent.wait(timeout: .now() + 60) == .success else { return XCTFail("went over the old connection") }
        // A response from another server shows that the loop has completed a turn, in which it detects the extra bytes.
        XCTAssertEqual(try text(other.url.absoluteString, on: transport), "other")
      }
      withExtendedLifetime(server) {}
    }

    func test_aUnixSocketWithoutAServerIsNamed() throws {
      let path = try socketPath()
      let transport = try CurlTransport(.init(addresses: ["docker": .unixSocket(path: path)]))
      guard case .failure(let error) = try outcome("http://docker/", on: transport) else { return XCTFail("sent") }
      XCTAssertEqual(error.kind, .connection)
      XCTAssert(error.reason.contains("docker:80 at \(path)"), error.reason)
    }

    func test_aWebSocketUsesTheAddressOfItsHost() throws {
      let server = try TestServer { _ in .text("no socket") }
      let transport = try CurlTransport(.init(addresses: ["a.example": .host("127.0.0.1", port: Int(server.port))]))
      let closed = expectation(description: "closed")
      let control = transport.connect(
        Request(url: try XCTUnwrap(URL(string: "http://a.example/"))), options: .init(),
        receiver: WebSocketReceiver(response: { _ in }, message: { _ in .continue }, closed: { _ in closed.fulfill() }))
      wait(for: [closed], timeout: 30)
      XCTAssertEqual(server.requests.map(\.path), ["/"])
      withExtendedLifetime(control) {}
    }
  }
#endif
