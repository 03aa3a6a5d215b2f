#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of the behavior that is specific to the libcurl transport. `TransportSuite` also runs with it, as the
  /// default.
  final class CurlTransportTests: XCTestCase {
    func test_itIsTheDefault() throws {
      XCTAssert(DefaultTransport.make() is CurlTransport)
    }

    func test_capabilitiesNameTheLibrary() throws {
      let found = try XCTUnwrap(CurlTransport.capabilities)
      XCTAssert(found.version.contains("."), found.version)
      XCTAssertTrue(found.gzip)
    }

    func test_aReusedHandleSendsTheURLOfEachRequest() throws {
      let server = try TestServer { .text($0.target) }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      // The last three repeat earlier ones: after the same URL, after others, and after a request that resets the handle.
      let targets = ["/a?x=1", "/a?x=2", "/%2E%2E/b;c", "/a//b?q=a%20b&r", "/a//b?q=a%20b&r", "/a?x=1"]
      for target in targets {
        XCTAssertEqual(try outcome(Request(url: server.url(target)), on: transport).get().text(), target)
      }
      let post = Request(method: .post, url: server.url("/post"), body: .data(Data("x".utf8)))
      XCTAssertEqual(try outcome(post, on: transport).get().text(), "/post")
      XCTAssertEqual(try outcome(Request(url: server.url("/post")), on: transport).get().text(), "/post")
      let other = try TestServer { .text("other \($0.target)") }
      XCTAssertEqual(try outcome(Request(url: other.url("/post")), on: transport).get().text(), "other /post")
    }

    func test_aReusedHandleSendsTheCookiesOfEachRequest() throws {
      let server = try TestServer { .text($0.header("Cookie") ?? "none") }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let jar = CookieJar()
      jar.store(["Set-Cookie": "sid=1"], from: server.url)
      let plain = Request(url: server.url)
      var signedIn = plain
      signedIn.options.cookies = jar
      for _ in 0..<3 {
        XCTAssertEqual(try outcome(plain, on: transport).get().text(), "none")
        XCTAssertEqual(try outcome(signedIn, on: transport).get().text(), "sid=1")
        XCTAssertEqual(try outcome(signedIn, on: transport).get().text(), "sid=1")
      }
      jar.removeAll()
      XCTAssertEqual(try outcome(signedIn, on: transport).get().text(), "none")
    }

    func test_brotliAndZstdAreDecodedIfTheLibrarySupportsThem() throws {
      let codings: [(String, Bool?, String)] = [
        ("br", CurlTransport.capabilities?.brotli, "1b2700f8a54574f6fab624956c328c4c4083899c92a11e1c"),
        (
          "zstd", CurlTransport.capabilities?.zstd,
          "28b52ffd2428dd0000a87b226d657373616765223a2268656c6c6f2c20227d01009594307beb9904"
        ),
      ]
      for (coding, canDecode, hex) in codings where canDecode == true {
        let server = try TestServer { request in
          XCTAssert(request.header("Accept-Encoding")?.contains(coding) == true)
          return TestServer.Response.bytes(TestRoutes.bytes(hex)).header("Content-Encoding", coding)
        }
        let reply = try outcome(Request(url: server.url("/")), on: try CurlTransport()).get()
        XCTAssertEqual(reply.body, Data(TestRoutes.message.utf8), coding)
      }
    }

    func test_aCustomAcceptEncodingDeliversTheBodyUndecoded() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      let raw = Request(url: server.url("/gzip"), headers: ["Accept-Encoding": "gzip"])
      XCTAssertEqual(try outcome(raw, on: transport).get().body, Data(TestRoutes.gzip))
      // Afterwards, the same handle decodes again.
      let plain = Request(url: server.url("/gzip"))
      XCTAssertEqual(try outcome(plain, on: transport).get().body, Data(TestRoutes.message.utf8))
    }

    func test_aBodyThatContradictsItsContentEncodingIsAParseError() throws {
      let server = try TestServer { _ in TestServer.Response.text("plain").header("Content-Encoding", "gzip") }
      let outcome = try outcome(Request(url: server.url("/")), on: try CurlTransport())
      XCTAssertEqual(TransportSuite.kind(outcome), .parse)
    }

    func test_aBodyAboveTheLimitNamesTheOption() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxBodySize: 1000))
      XCTAssertEqual(try outcome(Request(url: server.url("/bytes/1000")), on: transport).get().body.count, 1000)
      guard case .failure(let error) = try outcome(Request(url: server.url("/bytes/1001")), on: transport) else {
        return XCTFail("the body was let through")
      }
      XCTAssertEqual(error.kind, .tooLarge)
      XCTAssert(error.reason.contains("maxBodySize"), error.reason)
    }

    func test_theLimitOfBodiesInMemoryDoesNotApplyToStreams() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxBodySize: 1000))
      let pending = PendingStream(self)
      pending.start(Request(url: server.url("/bytes/1001")), on: transport)
      XCTAssertEqual(try pending.outcome().get().status, 200)
      XCTAssertEqual(pending.body.count, 1001)
    }

    func test_anEndlessHeadFails() throws {
      let server = try TestServer { _ in
        let head =
          "HTTP/1.1 200 OK\r\n"
          + String(repeating: "X-Filler: " + String(repeating: "x", count: 900) + "\r\n", count: 900)
        return .init(body: .raw([.init(head)]), ending: .hang)
      }
      let transport = try CurlTransport()
      guard case .failure(let error) = try outcome(Request(url: server.url("/")), on: transport) else {
        return XCTFail("the head was let through")
      }
      XCTAssertEqual(error.kind, .parse)
      XCTAssert(error.reason.contains("127.0.0.1:\(server.port)"), error.reason)
    }

    func test_aHugeContentLengthDoesNotAllocateMemory() throws {
      let server = try TestServer { _ in .truncatedBody(promised: 1 << 46, sent: 10) }
      let outcome = try outcome(Request(url: server.url("/")), on: try CurlTransport())
      XCTAssertEqual(TransportSuite.kind(outcome), .tooLarge)
    }

    func test_aPostIsNotSentTwiceOnAKeptConnection() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: transport).get().status, 200)
      let post = Request(method: .post, url: server.url("/close"), body: .data(Data("once".utf8)))
      guard case .failure(let error) = try outcome(post, on: transport) else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .connection)
      // libcurl before 7.80 sends the request over a new connection, so the error does not mention a kept one.
      let words = CurlLibrary.asksBeforeSending ? "not sent again" : "without a response"
      XCTAssert(error.reason.contains(words), error.reason)
      XCTAssertEqual(server.requests.filter { $0.method == "POST" }.count, 1)
    }

    func test_anUnknownMethodIsNotSentTwiceOnAKeptConnection() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      for body in [Request.Body.none, .data(Data("once".utf8))] {
        XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: transport).get().status, 200)
        let count = server.requestCount
        let request = Request(method: "APPEND", url: server.url("/close"), body: body)
        XCTAssertEqual(TransportSuite.kind(try outcome(request, on: transport)), .connection)
        XCTAssertEqual(server.requestCount, count + 1)
      }
    }

    func test_aCancelledUploadReleasesItsBodySource() throws {
      final class Token: Sendable {
        let gone: XCTestExpectation
        init(_ gone: XCTestExpectation) { self.gone = gone }
        deinit { gone.fulfill() }
      }
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      let calls = Locked(0)
      let go = DispatchSemaphore(value: 0)
      let gone = expectation(description: "the maker is released")
      let stream = Request.BodyStream(open: {
        let token = Token(gone)
        return {
          withExtendedLifetime(token) {}
          let call = calls.withLock { calls in
            calls += 1
            return calls
          }
          go.wait()
          return call < 10 ? Data(count: 1) : nil
        }
      })
      let pending = PendingCall(self)
      let sent = pending.send(Request(method: .put, url: server.url("/echo"), body: .stream(stream)), on: transport)
      let called = expectation(for: NSPredicate { _, _ in calls.withLock { $0 } == 1 }, evaluatedWith: nil)
      wait(for: [called], timeout: 20)
      sent.dispose()
      XCTAssertEqual(TransportSuite.kind(try pending.outcome()), .cancelled)
      for _ in 0..<20 { go.signal() }
      wait(for: [gone], timeout: 20)
      XCTAssertEqual(calls.withLock { $0 }, 1)
    }

    func test_aMissingCAFileIsNamed() throws {
      let file = URL(filePath: "/no/such/ca.pem")
      XCTAssertThrowsError(try CurlTransport(.init(tls: .init(trust: .pem(file: file))))) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .tls)
        XCTAssert("\(error)".contains("/no/such/ca.pem"))
      }
    }

    func test_theUnderlyingErrorIsLibcurls() throws {
      let closed = try TestServer { _ in .status(200) }
      closed.stop()
      guard case .failure(let error) = try outcome(Request(url: closed.url("/")), on: try CurlTransport()) else {
        return XCTFail("no error")
      }
      let cause = try XCTUnwrap(error.underlying as? CurlError)
      XCTAssertEqual(cause.code, 7)
      XCTAssert(cause.text.contains("\(closed.port)"), cause.text)
    }

    func test_proxyEnvironmentVariablesAreIgnoredByDefault() throws {
      setenv("http_proxy", "http://127.0.0.1:1", 1)
      defer { unsetenv("http_proxy") }
      let server = try TestServer(routes: TestRoutes.make())
      XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: try CurlTransport()).get().status, 200)
    }

    func test_metricsDistinguishNewConnectionsFromReusedOnes() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      let request = Request(url: server.url("/bytes/1000"))
      let first = try XCTUnwrap(try outcome(request, on: transport).get().metrics)
      let second = try XCTUnwrap(try outcome(request, on: transport).get().metrics)
      XCTAssertEqual(first.isReused, false)
      XCTAssertEqual(second.isReused, true)
      XCTAssertEqual(second.connect, .zero)
      XCTAssertEqual(first.tls, .zero)
      XCTAssertEqual(first.httpVersion, "1.1")
      XCTAssertEqual(first.remoteAddress, "127.0.0.1:\(server.port)")
      XCTAssertGreaterThan(try XCTUnwrap(first.firstByte), .zero)
      XCTAssertLessThanOrEqual(try XCTUnwrap(first.firstByte), first.total)
    }

    func test_anIPv6AddressIsInBrackets() {
      XCTAssertEqual(CurlHandle.hostAndPort("::1", 80), "[::1]:80")
      XCTAssertEqual(CurlHandle.hostAndPort("127.0.0.1", 80), "127.0.0.1:80")
    }

    func test_spellingsOfAnOriginShareItsQueue() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let pendingCalls = ["http://", "HTTP://", "http://u@"].map { start in
        let pending = PendingCall(self)
        let url = URL(string: "\(start)127.0.0.1:\(server.port)/delay/100") ?? server.url
        _ = pending.send(Request(url: url), on: transport)
        return pending
      }
      let queued = try pendingCalls.map { try XCTUnwrap(try $0.outcome().get().metrics?.queued) }
      XCTAssertGreaterThan(queued[1], .milliseconds(90))
      XCTAssertGreaterThan(queued[2], .milliseconds(180))
    }

    func test_aTimeoutAndAnUnknownHostHaveMetrics() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.2))
      let late = try outcome(Request(url: server.url("/never"), timeouts: limits), on: transport)
      guard case .failure(let error) = late else { return XCTFail("no error") }
      XCTAssertEqual(error.metrics?.remoteAddress, "127.0.0.1:\(server.port)")
      let unknown = Request(url: try XCTUnwrap(URL(string: "http://nosuchhost.invalid/")))
      guard case .failure(let error) = try outcome(unknown, on: transport) else { return XCTFail("no error") }
      XCTAssertEqual(error.metrics?.isReused, false)
    }

    func test_theTimeInTheQueueIsMeasured() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let pendingCalls = (0..<2).map { _ in PendingCall(self) }
      for pending in pendingCalls { _ = pending.send(Request(url: server.url("/delay/100")), on: transport) }
      let queued = try pendingCalls.map { try XCTUnwrap(try $0.outcome().get().metrics?.queued) }
      XCTAssertGreaterThan(queued[1], .milliseconds(90))
      XCTAssertLessThan(queued[0], queued[1])
    }

    func test_requestsOfHighPriorityOvertakeQueuedRequests() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let pendingCalls = (0..<7).map { _ in PendingCall(self) }
      for (index, pending) in pendingCalls.enumerated() {
        var request = Request(url: server.url("/delay/\(index == 0 ? 200 : 1)?q=\(index)"))
        request.options.priority = [.normal, .low, .normal, .high, .low, .normal, .high][index]
        _ = pending.send(request, on: transport)
      }
      for pending in pendingCalls { _ = try pending.outcome().get() }
      XCTAssertEqual(server.requests.compactMap { $0.query("q") }, ["0", "3", "6", "2", "5", "1", "4"])
    }

    func test_largeBodiesSendExpect100Continue() throws {
      let server = try TestServer { .text($0.header("Expect") ?? "none") }
      let transport = try CurlTransport()
      func expectation(_ body: Request.Body, _ headers: HTTPHeaders = [:]) throws -> String {
        let request = Request(method: .put, url: server.url("/"), headers: headers, body: body)
        return String(decoding: try outcome(request, on: transport).get().body, as: UTF8.self)
      }
      XCTAssertEqual(try expectation(.data(Data(count: 1 << 20))), "none")
      XCTAssertEqual(try expectation(.data(Data(count: 1 << 20 + 1))), "100-continue")
      XCTAssertEqual(try expectation(.stream(.init(open: { { nil } }))), "100-continue")
      XCTAssertEqual(try expectation(.data(Data(count: 1 << 20 + 1)), ["Expect": ""]), "")
    }

    func test_aRequestIsSentWithoutExpect_after417() throws {
      let server = try TestServer(expectation: { _ in 417 }) { .text("\($0.body.count)") }
      let transport = try CurlTransport()
      let request = Request(method: .put, url: server.url("/"), body: .data(Data(count: 3 << 20)))
      XCTAssertEqual(try outcome(request, on: transport).get().body, Data("\(3 << 20)".utf8))
      let pending = PendingStream(self)
      pending.start(request, on: transport)
      XCTAssertEqual(try pending.outcome().get().status, 200)
      XCTAssertEqual(pending.heads.map(\.status), [200])
      XCTAssertEqual(pending.body, Data("\(3 << 20)".utf8))
    }

    func test_aFinalResponseToAnExpectationSkipsTheBody() throws {
      let server = try TestServer(expectation: { _ in 413 }) { _ in .text("never") }
      let request = Request(method: .put, url: server.url("/"), body: .data(Data(count: 3 << 20)))
      XCTAssertEqual(try outcome(request, on: try CurlTransport()).get().status, 413)
      XCTAssertEqual(server.requestCount, 0)
    }

    func test_aProxyReceivesTheAbsoluteURL() throws {
      let proxy = try TestServer { .text($0.target) }
      let url = try XCTUnwrap(URL(string: "http://nosuchhost.invalid/a?b"))
      let through = try CurlTransport(.init(proxy: .url(proxy.url, except: ["127.0.0.1"])))
      XCTAssertEqual(
        try outcome(Request(url: url), on: through).get().body, Data("http://nosuchhost.invalid/a?b".utf8))
      let server = try TestServer(routes: TestRoutes.make())
      XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: through).get().body, Data("hello".utf8))
      XCTAssertEqual(proxy.requestCount, 1)
    }

    func test_theProxyOfTheEnvironmentIsUsedIfConfigured() throws {
      let proxy = try TestServer { .text($0.target) }
      setenv("http_proxy", proxy.url.absoluteString, 1)
      defer { unsetenv("http_proxy") }
      let url = try XCTUnwrap(URL(string: "http://nosuchhost.invalid/"))
      let asked = try CurlTransport(.init(proxy: .environment))
      XCTAssertEqual(try outcome(Request(url: url), on: asked).get().status, 200)
      for other in [try CurlTransport(), try CurlTransport(.init(proxy: .url(proxy.url, except: ["*"])))] {
        XCTAssertEqual(TransportSuite.kind(try outcome(Request(url: url), on: other)), .unknownHost)
      }
    }

    func test_anInvalidConfigurationIsRejected() throws {
      let missing = URL(filePath: "/no/such/key.pem")
      let good = try PublicKeyPin(Data(count: 32).base64EncodedString())
      let wrong: [(CurlTransport.Configuration, String)] = [
        (.init(tls: .init(identity: .init(certificate: missing, key: missing))), "/no/such/key.pem"),
        (.init(tls: .init(identity: .pkcs12(Data(), password: ""))), "CurlTransport does not read PKCS#12 data"),
        (.init(tls: .init(pins: ["h": []])), "no pin for h"),
        (.init(proxy: .url(URL(filePath: "/tmp"))), "proxy"),
      ]
      for (configuration, place) in wrong {
        XCTAssertThrowsError(try CurlTransport(configuration)) { XCTAssert("\($0)".contains(place), "\($0)") }
      }
      _ = try CurlTransport(.init(tls: .init(pins: ["h": [good, good]], minVersion: .v1_3)))
    }

    func test_idleConnectionsAreClosedAtTheTotalLimit() throws {
      let servers = try (0..<4).map { _ in try TestServer(routes: TestRoutes.make()) }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 2, maxConnections: 2))
      let pendingCalls = (0..<60).map { _ in PendingCall(self) }
      for (index, pending) in pendingCalls.enumerated() {
        _ = pending.send(Request(url: servers[index % servers.count].url("/delay/1")), on: transport)
      }
      for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().status, 200) }
      withExtendedLifetime(servers) {}  // the optimizer would release the servers after their last use
    }

    func test_releasedTransportsCloseTheirConnections() throws {
      let server = try TestServer(routes: TestRoutes.make())
      for _ in 0..<20 {
        XCTAssertEqual(try outcome(Request(url: server.url("/text")), on: try CurlTransport()).get().status, 200)
      }
      let gone = expectation(
        for: NSPredicate { _, _ in server.openConnectionCount == 0 }, evaluatedWith: nil, handler: nil)
      wait(for: [gone], timeout: 20)
    }
  }
#endif
