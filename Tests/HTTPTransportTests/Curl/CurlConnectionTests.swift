#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import StreamsTesting
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of the reuse and the limits of connections.
  final class CurlConnectionTests: XCTestCase {
    func test_aConnectionIsNotReusedAfterARequestWithConnectionClose() throws {
      let server = try TestServer { _ in .text("ok") }
      let transport = try CurlTransport()
      for value in ["close", "keep-alive, Close"] {
        let before = server.connectionCount
        let request = Request(url: server.url("/"), headers: ["Connection": value])
        for _ in 0..<2 { XCTAssertEqual(try outcome(request, on: transport).get().status, 200) }
        XCTAssertEqual(try outcome(Request(url: server.url("/")), on: transport).get().status, 200)
        XCTAssertEqual(server.connectionCount, before + (before == 0 ? 3 : 2), value)
      }
    }

    func test_aConnectionServesAtMostTheAllowedNumberOfRequests() throws {
      guard CurlLibrary.asksBeforeSending else {
        return XCTAssertThrowsError(try CurlTransport(.init(maxRequestsPerConnection: 3)))
      }
      for (limit, connections) in [(1, 6), (3, 2), (4, 2)] {
        let server = try TestServer { _ in .text("ok") }
        let transport = try CurlTransport(.init(maxRequestsPerConnection: limit))
        for _ in 0..<6 { XCTAssertEqual(try outcome(Request(url: server.url("/")), on: transport).get().status, 200) }
        XCTAssertEqual(server.connectionCount, connections, "\(limit)")
      }
    }

    func test_theIdleTimeIsRoundedUpToSecondsAndMayBeEnormous() {
      for (time, seconds) in [
        (Duration.nanoseconds(1), 1), (.seconds(1.1), 2), (.seconds(55), 55), (.seconds(Int64.max), 1_000_000),
      ] {
        XCTAssertEqual(CurlTransport.Configuration(maxIdleTime: time).idleSeconds, seconds)
      }
    }

    func test_invalidLimitsAreRejected() {
      for (configuration, name) in [
        (CurlTransport.Configuration(maxConnectionsPerHost: 0), "maxConnectionsPerHost is 0"),
        (.init(maxConnections: -1), "maxConnections is -1"), (.init(maxBodySize: -1), "maxBodySize is -1"),
        (.init(maxIdleTime: .zero), "maxIdleTime is 0.0 s"),
        (.init(maxIdleTime: .seconds(-1)), "maxIdleTime is -1.0 s"),
        (.init(maxRequestsPerConnection: 0), "maxRequestsPerConnection is 0"),
      ] {
        XCTAssertThrowsError(try CurlTransport(configuration), name) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
          XCTAssert((error as? NetworkError)?.reason.contains(name) == true, "\(error)")
        }
      }
    }

    func test_aHeadOfAnySizeIsSentCompletely() throws {
      let received = Locked("")
      let server = try RawServer { client, _ in
        while let head = client.receiveHead() {
          received.withLock { $0 = head }
          if let length = head.firstMatch(of: /Content-Length: ([1-9])/) { _ = client.skip(Int(length.output.1) ?? 0) }
          client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
      let transport = try CurlTransport()
      // libcurl 7.74 rejects heads of 100 KB as too large.
      for size in [10, 40_000, CurlLibrary.asksBeforeSending ? 300_000 : 60_000, 10] {
        for (method, body) in [(HTTPMethod.get, ""), (.delete, ""), (.post, ""), (.post, "body"), (.options, "")] {
          let request = Request(
            method: method, url: server.url, headers: ["X-Large": String(repeating: "x", count: size), "Expect": ""],
            body: body.isEmpty ? .none : .data(Data(body.utf8)),
            timeouts: .init(connect: .seconds(20), idle: .seconds(10), attempt: .seconds(30)))
          XCTAssertEqual(try outcome(request, on: transport).get().status, 200, "\(method) \(size)")
          XCTAssertGreaterThan(received.withLock { $0.utf8.count }, size)
          let head = received.withLock { $0 }
          XCTAssert(head.hasPrefix("\(method) / HTTP/1.1\r\n"), "\(head.prefix(40))")
          XCTAssertFalse(head.contains("Transfer-Encoding") || head.contains("Expect: 1"), "\(method) \(size)")
          XCTAssertEqual(head.contains("Content-Length: \(body.utf8.count)\r\n"), method == .post, "\(method) \(size)")
        }
      }
    }

    func test_aLongURLAfterAShortOneIsSentCompletely() throws {
      let server = try RawServer { client, _ in
        while let head = client.receiveHead() {
          let size = head.utf8.count
          client.send("HTTP/1.1 200 OK\r\nContent-Length: \("\(size)".utf8.count)\r\n\r\n\(size)")
        }
      }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      // At least one byte, because libcurl 8.14 omits the `?` of an empty query.
      let sizes = [1, CurlLibrary.asksBeforeSending ? 900_000 : 60_000, 1]
      var heads: [Int] = []
      for size in sizes {
        let url = try XCTUnwrap(URL(string: "\(server.url)?\(String(repeating: "x", count: size))"))
        let request = Request(
          url: url, timeouts: .init(connect: .seconds(20), idle: .seconds(5), attempt: .seconds(30)))
        heads.append(try XCTUnwrap(Int(try outcome(request, on: transport).get().text())))
      }
      XCTAssertEqual(heads[1] - heads[0], sizes[1] - sizes[0])
      XCTAssertEqual(heads[2], heads[0])
    }

    func test_aBodyAnnouncedAsTooLargeIsRejectedWithoutReadingIt() throws {
      for limit in [0, 10] {
        for status in [200, 500] {
          // The announced body never arrives: without the check, the request would time out.
          let server = try TestServer { _ in
            .init(body: .raw([.init("HTTP/1.1 \(status) S\r\nContent-Length: 11\r\n\r\n")]), ending: .hang)
          }
          var request = Request(
            url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(5), attempt: .seconds(10)))
          request.options.maxBodySize = limit
          let transport = try CurlTransport()
          guard case .failure(let error) = try outcome(request, on: transport) else { return XCTFail("taken") }
          XCTAssert(error.reason.contains("larger than \(limit) bytes"), error.reason)
          let stream = PendingStream(self)
          stream.start(request, on: transport)
          guard case .failure(let error) = try stream.outcome() else { return XCTFail("taken") }
          XCTAssert(error.reason.contains("larger than \(limit) bytes"), error.reason)
        }
      }
      let server = try TestServer { _ in
        .init(body: .raw([.init("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")]))
      }
      var head = Request(method: .head, url: server.url("/"))
      head.options.maxBodySize = 10
      XCTAssertEqual(try outcome(head, on: CurlTransport()).get().status, 200)
    }

    func test_trailersAreOnTheResponse() throws {
      let server = try TestServer { _ in
        .init(
          body: .raw([
            .init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Early: 1\r\n\r\n2\r\nok\r\n0\r\n"),
            .init("X-Checksum: 7\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n"),
          ]))
      }
      let transport = try CurlTransport()
      let response = try outcome(Request(url: server.url("/")), on: transport).get()
      XCTAssertEqual(response.body, Data("ok".utf8))
      XCTAssertEqual(response.trailers["X-Checksum"], "7")
      XCTAssertEqual(response.trailers.values(of: "X-Twice"), ["a", "b"])
      XCTAssertNil(response.headers["X-Checksum"])
      let stream = PendingStream(self)
      stream.start(Request(url: server.url("/")), on: transport)
      XCTAssertEqual(try stream.outcome().get().trailers["X-Checksum"], "7")
      let text = try TestServer { _ in .text("ok") }
      XCTAssertEqual(try outcome(Request(url: text.url("/")), on: transport).get().trailers, HTTPHeaders())
    }

    private struct Root: Endpoint {
      var path: String { "/" }
    }

    func test_trailersAreOnAStreamedResponseAfterItsBodyWasRead() async throws {
      let server = try TestServer { _ in
        .init(
          body: .raw([
            .init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Checksum: 7\r\n\r\n")
          ]))
      }
      let network = Network(Backend(baseURL: server.url("/"), transport: try CurlTransport()))
      let streamed = try await withTimeLimit { try await network.response(streaming: Root()).value }
      let body = try await withTimeLimit { try await streamed.chunks.reduce(Data(), +) }
      XCTAssertEqual(body, Data("ok".utf8))
      XCTAssertEqual(streamed.trailers["X-Checksum"], "7")
    }

    func test_shutdownAndWaitReturnsAfterAllRequestsHaveEnded() async throws {
      let server = try TestServer { _ in .neverResponding }
      let transport = try CurlTransport()
      let ends = Locked<[NetworkError.Kind?]>([])
      for _ in 0..<3 {
        _ = transport.send(Request(url: server.url("/"))) { result in
          if case .failure(let error) = result { ends.withLock { $0.append(error.kind) } }
        }
      }
      await transport.shutdownAndWait()
      XCTAssertEqual(ends.withLock { $0 }, [.cancelled, .cancelled, .cancelled])
      // Repeated and concurrent calls also return.
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { await transport.shutdownAndWait() } }
      }
    }

    func test_aProxyWhoseUserHasAControlCharacterIsNeverBypassed() throws {
      for code in ["%0A", "%0d", "%09", "%1F", "%00", "%7f"] {
        for userInfo in ["us\(code)er:hush", "user:hu\(code)sh", "\(code)"] {
          for scheme in ["http", "https", "socks5", "socks5h"] {
            let url = try XCTUnwrap(URL(string: "\(scheme)://\(userInfo)@127.0.0.1:9/"))
            XCTAssertThrowsError(try CurlTransport(.init(proxy: .url(url))), url.absoluteString) { error in
              XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
              XCTAssertFalse("\(error)".contains("hush"), "the password is in the error")
            }
          }
        }
      }
      XCTAssertNoThrow(try CurlTransport(.init(proxy: .url(URL(string: "http://us%20er:p%25ss@127.0.0.1:9")!))))
    }

    func test_aProxyWithoutAPortUsesTheDefaultPortOfItsScheme() throws {
      for (url, expected) in [
        ("http://proxy", "http://proxy:80"), ("https://u:p@proxy", "https://u:p@proxy:443"),
        ("socks5://proxy", "socks5://proxy:1080"), ("http://proxy:3128", "http://proxy:3128"),
        ("HTTP://proxy:/x?y#z", "HTTP://proxy:80/x?y#z"), ("proxy", "proxy:80"), ("u:p@proxy", "u:p@proxy:80"),
        ("http://[::1]", "http://[::1]:80"), ("http://u:p@[::1]:3128/", "http://u:p@[::1]:3128/"),
        ("socks4a://proxy/", "socks4a://proxy:1080/"),
      ] {
        XCTAssertEqual(ProxyRoute(url, setting: "").url, expected)
        setenv("http_proxy", url, 1)
        defer { unsetenv("http_proxy") }
        XCTAssertEqual(try ProxyOptions.environment.route(isSecure: false)?.url, expected)
      }
    }
  }
#endif
