#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of HTTP/3 against aioquic. They are skipped unless `Tests/Interop/http3` has started a server.
  final class HTTP3Tests: XCTestCase {
    private func outcome(
      _ url: URL, _ version: NetLayer.Request.HTTPVersion, body: Data? = nil, on transport: any Transport
    ) throws -> TransportSuite.Outcome {
      let pending = PendingCall(self)
      _ = pending.send(request(url, version, body: body), on: transport)
      return try pending.outcome()
    }

    private func request(_ url: URL, _ version: NetLayer.Request.HTTPVersion, body: Data? = nil) -> NetLayer.Request {
      var request = Request(method: body == nil ? .get : .post, url: url, body: body.map { .data($0) } ?? .none)
      request.options.httpVersion = version
      return request
    }

    private func text(_ url: URL, _ version: NetLayer.Request.HTTPVersion, on transport: CurlTransport) throws -> String
    {
      String(decoding: try outcome(url, version, on: transport).get().body, as: UTF8.self)
    }

    /// Returns the URL of the server that supports HTTP/3, and HTTP/1.1 over TCP.
    private func server() throws -> URL {
      guard let text = ProcessInfo.processInfo.environment["INTEROP_HTTP3"], let url = URL(string: text) else {
        throw XCTSkip("INTEROP_HTTP3 names no server; Tests/Interop/http3 starts one")
      }
      XCTAssertEqual(CurlTransport.capabilities?.http3, true)
      return url
    }

    private func transport(
      proxy: ProxyOptions = .none, addresses: [String: AddressOverride] = [:]
    ) throws -> CurlTransport {
      let file = try XCTUnwrap(ProcessInfo.processInfo.environment["INTEROP_CA"])
      return try CurlTransport(
        .init(tls: .init(trust: .pem(file: URL(filePath: file))), proxy: proxy, addresses: addresses))
    }

    func test_aRequiredVersionIsUsedWithAioquic_overOneConnection() throws {
      let (url, transport) = (try server(), try transport())
      for (body, line) in [
        (nil, "HTTP/3 GET /first 0"), (Data("four".utf8), "HTTP/3 POST /first 4"),
        (Data(count: 900_000), "HTTP/3 POST /first 900000"),
      ] {
        let response = try outcome(url.appending(path: "first"), .http3, body: body, on: transport).get()
        XCTAssertEqual(String(decoding: response.body, as: UTF8.self), line)
        XCTAssertEqual(response.headers["Server"], "aioquic")
        XCTAssertEqual(response.metrics?.httpVersion, "3")
        XCTAssertEqual(response.metrics?.isReused, body != nil)
      }
    }

    func test_manyRequestsShareConnections() throws {
      let (url, transport) = (try server(), try transport())
      let pendingCalls = (0..<50).map { _ in PendingCall(self) }
      for (index, pending) in pendingCalls.enumerated() {
        _ = pending.send(request(url.appending(path: "\(index)"), .http3), on: transport)
      }
      for (index, pending) in pendingCalls.enumerated() {
        let body = try pending.outcome().get().body
        XCTAssertEqual(String(decoding: body, as: UTF8.self), "HTTP/3 GET /\(index) 0")
      }
    }

    func test_http3IsUsedOnlyIfItIsAskedFor() throws {
      let (url, transport) = (try server(), try transport())
      for (version, expected) in [
        (NetLayer.Request.HTTPVersion.automatic, "1.1"), (.http3, "3"), (.automatic, "1.1"),
      ] {
        XCTAssertEqual(try text(url.appending(path: "offer"), version, on: transport), "HTTP/\(expected) GET /offer 0")
      }
    }

    func test_anAddressReplacesTheHost_alsoOverQUIC() throws {
      let url = try server()
      let transport = try transport(addresses: ["localhost:8443": .host("127.0.0.1", port: url.port)])
      let target = try XCTUnwrap(URL(string: "https://localhost:8443/address"))
      XCTAssertEqual(try text(target, .http3, on: transport), "HTTP/3 GET /address 0")
    }

    func test_aServerWithoutHTTP3IsAnError() throws {
      _ = try server()
      let other = try TestServer { _ in .text("never") }
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(other.port)/"))
      XCTAssertEqual(TransportSuite.kind(try outcome(url, .http3, on: try transport())), .connection)
    }

    /// A connection that the server loses before and within the response to a POST: on a new connection, and on a reused one.
    func test_aLostConnectionFailsItsPostWhichIsNotSentAgain() throws {
      let (url, log) = (try server(), try XCTUnwrap(ProcessInfo.processInfo.environment["INTEROP_LOG"]))
      // A client that only waits for a body sends nothing, so that the system does not tell it that the server's process is gone.
      for (loss, kinds) in [
        ("kill", [NetworkError.Kind.connection, .timeout]), ("close", [.connection, .connection]),
        ("mute", [.timeout, .timeout]),
      ] {
        for (place, kind) in zip(["head", "body"], kinds) {
          for isKept in [false, true] {
            let transport = try transport()
            if isKept { XCTAssertEqual(try text(url.appending(path: "up"), .http3, on: transport), "HTTP/3 GET /up 0") }
            let path = "/\(loss)/\(place)/\(UUID().uuidString)"
            var post = request(url.appending(path: String(path.dropFirst())), .http3, body: Data("four".utf8))
            post.timeouts.idle = .seconds(1)
            let (pending, name) = (PendingCall(self), "\(path) \(isKept)")
            _ = pending.send(post, on: transport)
            guard case .failure(let error) = try pending.outcome() else { return XCTFail(name) }
            XCTAssertEqual(error.kind, kind, "\(name): \(error.reason)")
            try waitForHTTP3(url)
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            XCTAssertEqual(lines.filter { $0.contains(path) }, ["HTTP/3 POST \(path) 4"], name)
          }
        }
      }
    }

    /// Waits until the server, which starts again after its end, speaks HTTP/3.
    private func waitForHTTP3(_ url: URL) throws {
      for _ in 0..<1000 {
        if case .success = try outcome(url.appending(path: "up"), .http3, on: try transport()) { return }
      }
      XCTFail("the server does not come back")
    }

    func test_nothingIsSentWithoutTLSOrThroughAProxy() throws {
      let url = try server()
      let other = try TestServer { _ in .text("never") }
      let proxy = try transport(proxy: .url(other.url))
      let socket = try transport(addresses: ["127.0.0.1": .unixSocket(path: "/tmp/none")])
      for (target, transport) in [(other.url, try transport()), (url, proxy), (url, socket)] {
        guard case .failure(let error) = try outcome(target, .http3, on: transport) else { return XCTFail("sent") }
        XCTAssertEqual(error.kind, .invalidRequest)
        XCTAssert(error.reason.contains("nothing was sent"), error.reason)
      }
      XCTAssertEqual(other.connectionCount, 0)
    }

    func test_withoutHTTP3NothingIsSent() throws {
      let server = try TestServer { _ in .text("never") }
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      for transport in try transportsThatLack(CurlLibrary.speaksHTTP3) {
        guard case .failure(let error) = try outcome(url, .http3, on: transport) else { return XCTFail("sent") }
        XCTAssertEqual(error.kind, .invalidRequest, error.reason)
      }
      XCTAssertEqual(server.connectionCount, 0)
    }
  }
#endif
