#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import Streams
  import TestSupport
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of servers that violate TLS and HTTP/2: no request hangs, no truncation is silent, and nothing is processed
  /// twice.
  final class HostileTLSTests: HostileServerTestCase {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
      // Allows all concurrent requests, even before the server is known to support HTTP/2.
      var configuration = CurlTransport.Configuration(
        tls: .init(trust: .pem(file: server.file("ca.pem"))), maxConnectionsPerHost: 20)
      change(&configuration)
      return try CurlTransport(configuration)
    }

    /// The version of all requests of a test.
    private var version = NetLayer.Request.HTTPVersion.automatic

    private func request(
      _ name: String, _ method: HTTPMethod = .get, body: Request.Body = .none,
      timeouts: Request.Timeouts = .init(connect: .seconds(20), idle: .seconds(6), attempt: .seconds(20))
    ) throws -> NetLayer.Request {
      asking(try server.url(name), method, body: body, timeouts: timeouts)
    }

    private func asking(
      _ url: URL, _ method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: Request.Body = .none,
      timeouts: Request.Timeouts = .init()
    ) -> NetLayer.Request {
      var request = Request(method: method, url: url, headers: headers, body: body, timeouts: timeouts)
      if version != .automatic { request.options.httpVersion = version }
      return request
    }

    /// Sends `count` concurrent requests and returns their outcomes.
    private func outcomes(
      _ count: Int, _ request: NetLayer.Request, on transport: CurlTransport
    ) throws -> [TransportSuite.Outcome] {
      let pendingCalls = (0..<count).map { _ in PendingCall(self) }
      for pending in pendingCalls { _ = pending.send(request, on: transport) }
      return try pendingCalls.map { try $0.outcome() }
    }

    private func needsHTTP2() throws {
      guard CurlTransport.capabilities?.http2 == true else { throw XCTSkip("requires libcurl 8.14 with HTTP/2") }
      version = .http2
    }

    private func reason(_ outcome: TransportSuite.Outcome) -> String {
      switch outcome {
      case .success(let response): "success, \(response.body.count) bytes"
      case .failure(let error): "\(error.kind): \(error.reason)"
      }
    }

    private func text(_ outcome: TransportSuite.Outcome) -> String {
      (try? outcome.get().body).map { String(decoding: $0, as: UTF8.self) } ?? reason(outcome)
    }

    // MARK: The end of TLS

    func test_aBodyDelimitedByTheConnectionRequiresCloseNotify() throws {
      XCTAssertEqual(try outcome(request("close-notify"), on: transport()).get().body, Data("whole".utf8))
      for name in ["close-cut", "close-cut-empty"] {
        let transport = try transport()
        let result = try outcome(request(name), on: transport)
        XCTAssertEqual(TransportSuite.kind(result), .connection, "\(name): \(reason(result))")
        let stream = PendingStream(self)
        stream.start(try request(name), on: transport)
        XCTAssertEqual(TransportSuite.kind(try stream.outcome()), .connection, name)
      }
    }

    func test_aDelimitedBodyDoesNotRequireCloseNotify() throws {
      for name in ["length-cut", "chunked-cut"] {
        XCTAssertEqual(try outcome(request(name), on: transport()).get().body, Data("whole".utf8), name)
      }
    }

    func test_anEncryptedKeyWithoutItsPasswordFailsWithoutAPrompt() throws {
      for (password, isRight) in [(nil, false), ("wrong", false), ("secret", true)] as [(String?, Bool)] {
        let transport = try transport { [server] in
          guard let server else { return }
          $0.tls.identity = .init(
            certificate: server.file("encrypted.pem"), key: server.file("encrypted.key"), password: password)
        }
        let result = try outcome(request("client"), on: transport)
        if isRight {
          XCTAssertEqual(try result.get().status, 200)
        } else {
          guard case .failure(let error) = result else { return XCTFail("the key was taken") }
          XCTAssertEqual(error.kind, .tls, error.reason)
          XCTAssert(error.reason.contains("TLSOptions.identity"), error.reason)
        }
      }
    }

    func test_aMissingClientCertificateIsReported() throws {
      let result = try outcome(request("client"), on: transport())
      guard case .failure(let error) = result else { return XCTFail("nothing was required") }
      XCTAssertEqual(error.kind, .tls, error.reason)
      XCTAssert(error.reason.contains("TLSOptions.identity"), error.reason)
    }

    func test_aRefusedClientCertificateIsReportedAndNotRetried() throws {
      // Version, certificate, text.
      for (server, certificate, says) in [
        ("client", "expired", "does not accept the client certificate"),
        ("client", "usage", "does not accept the client"),
        ("client", "revoked", "does not accept the client"), ("client", "foreign", "does not accept the client"),
        ("client-old", "expired", "does not accept the client"), ("client-old", "usage", "does not accept the client"),
        ("client-old", "revoked", "does not accept the client"),
        ("client-old", "foreign", "does not accept the client"),
        ("client", nil, "requires a client certificate"), ("client-old", nil, "may require a client certificate"),
        ("client", "good", nil), ("client-old", "good", nil),
      ] as [(String, String?, String?)] {
        let place = "\(server) \(certificate ?? "-")"
        let transport = try transport { [own = self.server] in
          guard let own, let certificate else { return }
          $0.tls.identity = .init(certificate: own.file("\(certificate).pem"), key: own.file("\(certificate).key"))
        }
        let result = try outcome(request(server), on: transport)
        guard let says else {
          XCTAssertEqual(try? result.get().status, 200, "\(place): \(reason(result))")
          continue
        }
        guard case .failure(let error) = result else { return XCTFail("\(place) was taken") }
        XCTAssertEqual(error.kind, .tls, "\(place): \(error.reason)")
        XCTAssertFalse(error.kind.isTransient)
        XCTAssert(error.reason.contains(says), "\(place): \(error.reason)")
        XCTAssert(error.reason.contains("TLSOptions.identity"), "\(place): \(error.reason)")
        XCTAssertFalse(error.reason.contains("TLSOptions.trust"), "\(place): \(error.reason)")
      }
    }

    func test_aRefusedClientCertificateOfASocketIsReportedAsSuch() async throws {
      for (name, certificate) in [("client", "expired"), ("client-old", "usage"), ("client", "foreign")] {
        let transport = try transport { [own = self.server] in
          guard let own else { return }
          $0.tls.identity = .init(certificate: own.file("\(certificate).pem"), key: own.file("\(certificate).key"))
        }
        let network = Network(Backend(baseURL: try server.url(name), transport: transport))
        do {
          try await network.withWebSocket(.get("/")) { _ in }
          XCTFail("\(certificate) was taken")
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .tls, error.reason)
          XCTAssert(error.reason.contains("does not accept the client certificate"), error.reason)
        }
      }
    }

    func test_anotherKeyAndAnotherNameHaveTheirOwnRemedies() throws {
      let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
      let pinned = try outcome(request("client"), on: transport { $0.tls.pins = ["127.0.0.1": [pin]] })
      XCTAssert(reason(pinned).contains("update TLSOptions.pins") && reason(pinned).hasPrefix("tls:"), reason(pinned))
      XCTAssertFalse(reason(pinned).contains("trust"), reason(pinned))
      let port = try server.port("close-notify")
      let other = try outcome(
        asking(try XCTUnwrap(URL(string: "https://other.test:\(port)/"))),
        on: transport { $0.addresses = ["other.test:\(port)": .host("127.0.0.1")] })
      XCTAssert(reason(other).contains("is for another name") && reason(other).hasPrefix("tls:"), reason(other))
    }

    // MARK: The end of a connection without a request

    func test_aPostAfterTheEndOfItsKeptConnectionIsSentOnce() throws {
      guard CurlLibrary.asksBeforeSending else { throw XCTSkip("libcurl before 7.80 uses a new connection for a POST") }
      for name in ["idle-notify", "idle-fin", "idle-both", "idle-together"] {
        // Each server counts from its first connection.
        let own = try HostileServer()
        defer { own.stop() }
        let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: own.file("ca.pem")))))
        XCTAssertEqual(try outcome(asking(own.url(name)), on: transport).get().status, 200)
        XCTAssert(holds { (try? log(own).contains("ended")) == true }, name)
        let post = try outcome(asking(own.url(name), .post, body: .data(Data("body".utf8))), on: transport)
        XCTAssertEqual(try? post.get().status, 200, "\(name): \(reason(post))")
        XCTAssertEqual(try log(own).count { $0.hasPrefix("processed") }, 2, name)
      }
    }

    func test_aPostThatMayHaveBeenProcessedIsSentOnce() throws {
      let post = try outcome(request("drop", .post, body: .data(Data("body".utf8))), on: transport())
      XCTAssertEqual(TransportSuite.kind(post), .connection, reason(post))
      XCTAssertEqual(try log(server).count { $0.hasPrefix("processed drop") }, 1)
    }

    private func log(_ server: HostileServer) throws -> [Substring] {
      let text = try outcome(Request(url: server.url("log")), on: CurlTransport()).get().body
      return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    // MARK: HTTP/2: lost requests are sent again if they may be repeated

    /// Returns the number of requests that the server `name` has processed.
    private func processed(_ name: String) throws -> Int {
      try log(server).count { $0.hasPrefix("processed \(name) ") }
    }

    func test_overHTTP2_requestsThatMayBeRepeatedSucceed_andOthersAreSentOnce() throws {
      try needsHTTP2()
      for name in ["retire", "refuse"] {
        for body in [Data("once".utf8), Data(count: 200_000)] {
          let before = try processed(name)
          let posts = try outcomes(12, request(name, .post, body: .data(body)), on: transport())
          let successes = posts.count { (try? $0.get().status) == 200 }
          XCTAssertEqual(try processed(name) - before, successes, name)
          for case .failure(let error) in posts {
            XCTAssertEqual(error.kind, .connection)
            XCTAssert(error.reason.contains("not sent again"), error.reason)
          }
          for result in try outcomes(6, request(name, .put, body: .data(body)), on: transport()) {
            XCTAssertEqual(try? result.get().status, 200, "\(name): \(reason(result))")
          }
        }
      }
    }

    func test_aBodyReadButNotSentBeforeItsStreamWasRefusedIsSentCompletely() throws {
      try needsHTTP2()
      let content = Data(repeating: 1, count: 20_000)
      @Sendable func made(_ count: Int64?) -> Request.Body {
        .stream(
          .init(count: count) {
            let left = Locked([content])
            return { left.withLock { $0.popLast() } }
          })
      }
      let bodies: [(String, Request.Body)] = [
        ("small", .data(Data(count: 572))), ("large", .data(content)), ("known", made(20_000)), ("unknown", made(nil)),
      ]
      for (name, body) in bodies {
        // Each server counts from its first connection.
        let own = try HostileServer()
        defer { own.stop() }
        let url = try own.url("refuse-unsent")
        let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: own.file("ca.pem")))))
        XCTAssertEqual(try outcome(asking(url), on: transport).get().status, 200)
        let result = try outcome(asking(url, .put, body: body), on: transport)
        let length = name == "small" ? "572" : "20000"
        XCTAssertEqual(
          (try? result.get().body).map { String(decoding: $0, as: UTF8.self) }, length, "\(name): \(reason(result))")
      }
    }

    func test_onALostKeptConnection_aGetIsSentAgainAndAPostFails() throws {
      try needsHTTP2()
      for name in ["dying", "dying-cut"] {
        for (method, isRepeated) in [(HTTPMethod.get, true), (.put, true), (.post, false)] {
          // Each server counts from its first connection.
          let own = try HostileServer()
          defer { own.stop() }
          let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: own.file("ca.pem")))))
          XCTAssertEqual(try outcome(asking(own.url(name)), on: transport).get().status, 200)
          let body = method == .get ? Request.Body.none : .data(Data("body".utf8))
          let second = try outcome(asking(own.url(name), method, body: body), on: transport)
          if isRepeated {
            XCTAssertEqual(try? second.get().status, 200, "\(name) \(method): \(reason(second))")
          } else {
            XCTAssertEqual(TransportSuite.kind(second), .connection)
            XCTAssert(reason(second).contains("not sent again"), reason(second))
          }
        }
      }
    }

    func test_aRequestExcludedByGoawayIsSentAgainIfItMayBeRepeated() throws {
      try needsHTTP2()
      for (method, isRepeated) in [(HTTPMethod.put, true), (.post, false)] {
        let own = try HostileServer()
        defer { own.stop() }
        let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: own.file("ca.pem")))))
        XCTAssertEqual(try outcome(asking(own.url("dying-goaway")), on: transport).get().status, 200)
        let body = Request.Body.data(Data("body".utf8))
        let result = try outcome(asking(own.url("dying-goaway"), method, body: body), on: transport)
        XCTAssertEqual(TransportSuite.kind(result), isRepeated ? nil : .connection, reason(result))
      }
    }

    /// Sends data to a server that does not read, over the connection of `transport`, until the connection accepts no
    /// more.
    private func fill(_ url: URL, _ transport: CurlTransport, with body: Data) throws -> PendingCall {
      final class Sent: Sendable {
        private let value = Locked<Int64>(0)
        var count: Int64 {
          get { value.withLock { $0 } }
          set { value.withLock { $0 = newValue } }
        }
      }
      let (upload, sent) = (PendingCall(self), Sent())
      let big = asking(url, .post, body: .data(body))
      _ = transport.send(big, progress: { sent.count = $0.sent }, completion: upload.complete)
      XCTAssert(holds { sent.count > 0 } && standsStill { Int(sent.count) })
      return upload
    }

    func test_cancellingRequestsThatWaitToBeSentDoesNotAffectOthers() throws {
      try needsHTTP2()
      let own = try HostileServer()
      defer { own.stop() }
      let transport = try CurlTransport(
        .init(tls: .init(trust: .pem(file: own.file("ca.pem"))), maxConnectionsPerHost: 64))
      let url = try own.url("deaf")
      XCTAssertEqual(try outcome(asking(url), on: transport).get().status, 200)
      let upload = try fill(url, transport, with: Data(count: 2 << 20))
      for _ in 0..<5 {
        let requests = (0..<8).map { _ in PendingCall(self) }
        let disposables = requests.map { $0.send(asking(url, headers: ["X-Call": "1"]), on: transport) }
        // Allows libcurl enough time to accept the requests. Nothing observable shows that they wait.
        usleep(50_000)
        for disposable in disposables { disposable.dispose() }
        for request in requests { XCTAssertEqual(TransportSuite.kind(try request.outcome()), .cancelled) }
      }
      let last = PendingCall(self)
      _ = last.send(asking(url), on: transport)
      // Makes the server read again.
      XCTAssertEqual(try outcome(Request(url: own.url("log")), on: self.transport()).get().status, 200)
      let results = (try upload.outcome(), try last.outcome())
      XCTAssertEqual(text(results.0), "1 False \(2 << 20)")
      XCTAssertEqual(text(results.1), "1 True 0")
    }

    func test_bodiesThatWaitToBeSentAreSentUnchanged() throws {
      try needsHTTP2()
      for name in ["deaf", "dripping"] { try sendBodiesWithoutRoom(name) }
    }

    private func sendBodiesWithoutRoom(_ name: String) throws {
      let own = try HostileServer()
      defer { own.stop() }
      let transport = try CurlTransport(
        .init(tls: .init(trust: .pem(file: own.file("ca.pem"))), maxConnectionsPerHost: 64))
      let url = try own.url(name)
      XCTAssertEqual(try outcome(asking(url), on: transport).get().status, 200)
      @Sendable func content(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 % 251) }) }
      let upload = try fill(url, transport, with: content(2 << 20))
      @Sendable func made(_ count: Int, announced: Bool) -> Request.Body {
        .stream(
          .init(count: announced ? Int64(count) : nil) {
            let left = Locked(content(count))
            return {
              left.withLock { left in
                defer { left = left.dropFirst(500) }
                return left.isEmpty ? nil : Data(left.prefix(500))
              }
            }
          })
      }
      let bodies: [(Int, Request.Body)] = [
        (100, .data(content(100))), (5000, .data(content(5000))), (100_000, .data(content(100_000))),
        (500, made(500, announced: true)), (500, made(500, announced: false)), (5000, made(5000, announced: true)),
        (5000, made(5000, announced: false)), (50_000, made(50_000, announced: false)), (0, .data(Data())),
      ]
      let pendingCalls = bodies.map { _, body in
        let pending = PendingCall(self)
        _ = pending.send(asking(url, .post, body: body), on: transport)
        return pending
      }
      usleep(100_000)
      XCTAssertEqual(try outcome(Request(url: own.url("log")), on: self.transport()).get().status, 200)
      for (pending, (count, _)) in zip(pendingCalls, bodies) {
        let reports = text(try pending.outcome())
        XCTAssert(reports.hasSuffix(" True \(count)"), "\(name), \(count): \(reports)")
      }
      XCTAssertEqual(text(try upload.outcome()), "1 True \(2 << 20)", name)
    }

    // MARK: HTTP/2: truncated responses fail, and nothing hangs

    func test_aResetResponseIsNotCombinedWithAnother() throws {
      try needsHTTP2()
      let result = try outcome(request("required"), on: transport())
      XCTAssertEqual(TransportSuite.kind(result), .connection, reason(result))
      let stream = PendingStream(self)
      let transport = try transport()
      stream.start(try request("required"), on: transport)
      let streamed = try stream.outcome()
      XCTAssertEqual(TransportSuite.kind(streamed), .connection, reason(streamed))
      XCTAssertFalse(stream.body.contains(UInt8(ascii: "h")))
    }

    func test_responsesTruncatedByTheEndOfTheConnectionFail() throws {
      try needsHTTP2()
      for (name, count) in [("destroyed-one", 1), ("destroyed", 10), ("destroyed-cut", 10)] {
        for result in try outcomes(count, request(name), on: transport()) {
          XCTAssertEqual(TransportSuite.kind(result), .connection, "\(name): \(reason(result))")
        }
      }
    }

    func test_streamsThatWaitOnALostConnectionFail() throws {
      try needsHTTP2()
      for name in ["destroyed", "destroyed-cut"] {
        let transport = try transport()
        let streams = (0..<10).map { _ in PendingStream(self) }
        // Like event streams, without an idle limit.
        for stream in streams {
          stream.start(
            try request(name, timeouts: .init(connect: .seconds(20), idle: nil, attempt: nil)), on: transport)
        }
        for stream in streams { XCTAssertEqual(TransportSuite.kind(try stream.outcome()), .connection, name) }
      }
    }

    func test_requestsOnALostConnectionAreSentAgain() throws {
      try needsHTTP2()
      for name in ["silent", "silent-cut"] {
        let failures = try outcomes(10, request(name), on: transport()).filter { (try? $0.get().status) != 200 }
        XCTAssertEqual(failures.map(reason), [], name)
      }
    }

    func test_invalidFramesFailEveryResponseOfTheConnection() throws {
      try needsHTTP2()
      for name in ["data-on-0", "window-0", "ping-short", "settings-odd", "oversize", "push", "hpack"] {
        for result in try outcomes(1, request("broken-\(name)"), on: transport()) {
          XCTAssertEqual(TransportSuite.kind(result), .connection, "\(name): \(reason(result))")
        }
      }
    }

    // MARK: WebSockets

    /// libcurl 8.23 with OpenSSL reads ahead. The records that it has already read do not make its socket readable.
    func test_messagesInOnePacketOfAProxyWithTLS_allArrive() throws {
      let proxy = try server.url("proxy")
      let transport = try transport { $0.proxy = .url(proxy) }
      let (messages, errors) = (Notes(), Notes())
      let control = transport.connect(
        try asking(XCTUnwrap(URL(string: "http://svc.test/"))), options: .init(),
        receiver: WebSocketReceiver(
          response: { _ in },
          message: { message in
            messages.add(message.text ?? "no text")
            return .continue
          },
          closed: { result in if case .failure(let error) = result { errors.add("\(error)") } }))
      // The server sends nothing afterwards, and waits.
      XCTAssertTrue(holds { messages.all.count == 100 || !errors.all.isEmpty })
      XCTAssertEqual(errors.all, [])
      XCTAssertEqual(messages.all, (0..<100).map { $0 < 10 ? "0\($0)" : "\($0)" })
      control.dispose()
    }

    // MARK: HTTP/2: other tests

    func test_aResponseBeforeTheEndOfTheBodyIsDelivered() throws {
      try needsHTTP2()
      let endless = Request.BodyStream(open: { { Data(count: 1 << 14) } })
      for body in [Request.Body.data(Data(count: 4 << 20)), .stream(endless)] {
        let result = try outcome(request("early", .put, body: body), on: transport())
        XCTAssertEqual(try? result.get().body, Data("done".utf8), reason(result))
      }
    }

    func test_trailersAreOnTheResponse() throws {
      try needsHTTP2()
      let response = try outcome(request("trailers"), on: transport()).get()
      XCTAssertEqual(response.trailers["x-late"], "1")
      XCTAssertEqual(response.body, Data("ok".utf8))
      XCTAssertNil(response.headers["x-late"])
    }

    func test_http1IsTheDefault() throws {
      let response = try outcome(request("required"), on: transport()).get()
      XCTAssertEqual(response.body, Data("h1".utf8))
      XCTAssertEqual(response.metrics?.httpVersion, "1.1")
    }
  }
#endif
