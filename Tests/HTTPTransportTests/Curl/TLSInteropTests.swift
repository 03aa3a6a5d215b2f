#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of TLS with nginx. `Tests/Interop/run` creates the certificates and names them in the environment. Otherwise
  /// the tests are skipped.
  final class TLSInteropTests: XCTestCase {
    private func value(_ name: String) throws -> String {
      guard let value = ProcessInfo.processInfo.environment["INTEROP_\(name)"] else {
        throw XCTSkip("Tests/Interop/run starts the server that this test needs")
      }
      return value
    }

    // Skips the tests here, because a skip thrown inside an assertion is a failure.
    override func setUpWithError() throws { _ = try value("FILES") }

    private func url(_ name: String) throws -> URL {
      try XCTUnwrap(URL(string: try value(name))).appending(path: "user.json")
    }

    private func file(_ name: String) throws -> URL { URL(filePath: try value("FILES")).appending(path: name) }

    private func outcome(
      _ url: URL, _ change: (inout TLSOptions) throws -> Void = { _ in }
    ) throws -> TransportSuite.Outcome {
      var tls = TLSOptions(trust: .pem(file: try file("ca.pem")))
      try change(&tls)
      let pending = PendingCall(self)
      let transport = try CurlTransport(.init(tls: tls))
      _ = pending.send(Request(url: url), on: transport)
      return try pending.outcome()
    }

    func test_onlyTrustedCertificatesAreAccepted() throws {
      XCTAssertEqual(try outcome(url("TLS")).get().status, 200)
      let pem = try Data(contentsOf: file("ca.pem"))
      // `CurlSettingsTests` covers the other versions.
      if CurlLibrary.takesCertificatesFromMemory {
        XCTAssertEqual(try outcome(url("TLS")) { $0.trust = .pem(pem) }.get().metrics?.httpVersion, "1.1")
      }
      XCTAssertEqual(TransportSuite.kind(try outcome(url("TLS")) { $0.trust = .system }), .tls)
      let other = try file("good.pem")
      XCTAssertEqual(TransportSuite.kind(try outcome(url("EXPIRED"))), .tls)
      XCTAssertEqual(TransportSuite.kind(try outcome(url("OTHER"))), .tls)
      XCTAssertEqual(TransportSuite.kind(try outcome(url("EXPIRED")) { $0.trust = .pem(file: other) }), .tls)
    }

    func test_anUntrustedCertificateFailsEveryKindOfRequestOnceWithoutLeaks() throws {
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: file("ca.pem")))))
      let grid = try FaultGrid(self, transport, next: url("TLS").deletingLastPathComponent().appending(path: "ok"))
      defer { try? FileManager.default.removeItem(at: grid.folder) }
      let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(60))
      // Creates the handles for concurrent requests, and a connection that stays open.
      try grid.run("good", .reply("ok"), at: grid.next, limits)
      let leaks = try LeakCheck(self, transport, asking: grid.next)
      // OpenSSL 3, OpenSSL 1, and GnuTLS, which reports a self-signed certificate like that of an unknown CA.
      let selfSigned = "self-signed|self signed|signer not trusted"
      for (name, words) in [("EXPIRED", "expired"), ("SELF_SIGNED", selfSigned), ("OTHER", "127.0.0.1")] {
        let fault = try url(name).deletingLastPathComponent().appending(path: "untrusted")
        try grid.run(name, .failure(.tls, saying: words), at: fault, limits)
        try leaks.check(name)
      }
      // The certificate is accepted if it is trusted itself, so the rejection was caused by the signature.
      let itself = try file("self.pem")
      XCTAssertEqual(try outcome(url("SELF_SIGNED")) { $0.trust = .pem(file: itself) }.get().status, 200)
      let log = try String(contentsOf: file("access.log"), encoding: .utf8)
      XCTAssertFalse(log.contains("/untrusted"), "a request went to a server that is not trusted")
    }

    func test_pinsApplyWithABackupAndOnlyToTheirHost() throws {
      let (right, wrong) = (
        try PublicKeyPin(value("PIN")), try PublicKeyPin(Data(count: 32).base64EncodedString())
      )
      XCTAssertEqual(try outcome(url("TLS")) { $0.pins = ["127.0.0.1": [right]] }.get().status, 200)
      XCTAssertEqual(try outcome(url("TLS")) { $0.pins = ["127.0.0.1": [wrong, right]] }.get().status, 200)
      XCTAssertEqual(try outcome(url("TLS")) { $0.pins = ["localhost": [wrong]] }.get().status, 200)
      let named = try XCTUnwrap(URL(string: try url("TLS").absoluteString.replacing("127.0.0.1", with: "localhost")))
      XCTAssertEqual(TransportSuite.kind(try outcome(named) { $0.pins = ["LocalHost.": [wrong]] }), .tls)
      guard case .failure(let error) = try outcome(url("TLS"), { $0.pins = ["127.0.0.1": [wrong]] }) else {
        return XCTFail("a wrong pin was let through")
      }
      XCTAssertEqual(error.kind, .tls)
    }

    func test_aServerThatRequestsItReceivesTheClientCertificate() throws {
      let (certificate, key) = (try file("good.pem"), try file("good.key"))
      let shown = try outcome(url("CLIENT")) { $0.identity = .init(certificate: certificate, key: key) }.get()
      XCTAssertEqual(shown.status, 200)
      // nginx rejects the request in HTTP, not in TLS.
      XCTAssertEqual(try outcome(url("CLIENT")).get().status, 400)
    }

    func test_theMinimumTLSVersionIsEnforced() throws {
      XCTAssertEqual(try outcome(url("OLD")).get().status, 200)
      XCTAssertEqual(TransportSuite.kind(try outcome(url("OLD")) { $0.minVersion = .v1_3 }), .tls)
    }

    func test_aSecondConnectionResumesTheSessionOfTheFirst() throws {
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: file("ca.pem")))))
      let request = Request(
        url: try url("OLD").appending(queryItems: [.init(name: "resumed", value: "")]), headers: ["Connection": "close"]
      )
      let first = PendingCall(self)
      _ = first.send(request, on: transport)
      _ = try first.outcome().get()
      // The second of the two concurrent requests uses a handle that has never connected.
      let both = [PendingCall(self), PendingCall(self)]
      for pending in both { _ = pending.send(request, on: transport) }
      for pending in both { _ = try pending.outcome().get() }
      let log = try file("access.log")
      func lines() -> [String] {
        ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").filter {
          $0.contains("?resumed=")
        }
        .map { $0.contains(#""resumed":"r""#) ? "resumed" : "new" }
      }
      let written = expectation(for: NSPredicate { _, _ in lines().count == 3 }, evaluatedWith: nil)
      wait(for: [written], timeout: 20)
      XCTAssertEqual(lines(), ["new", "resumed", "resumed"])
    }

    func test_aThousandRequestsOverOneConnection() throws {
      guard CurlLibrary.speaksHTTP2 else { throw XCTSkip("requires libcurl 8.14 with HTTP/2") }
      var request = Request(url: try url("TLS"))
      request.options.httpVersion = .http2
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: file("ca.pem")))))
      let first = PendingCall(self)
      _ = first.send(request, on: transport)
      let metrics = try XCTUnwrap(try first.outcome().get().metrics)
      XCTAssertGreaterThan(try XCTUnwrap(metrics.tls), .zero)
      XCTAssertEqual(metrics.isReused, false)
      // nginx closes a connection after its thousandth request.
      let pendingCalls = (0..<999).map { _ in PendingCall(self) }
      for pending in pendingCalls { _ = pending.send(request, on: transport) }
      for pending in pendingCalls {
        let metrics = try XCTUnwrap(try pending.outcome().get().metrics)
        XCTAssertEqual(metrics.httpVersion, "2")
        XCTAssertEqual(metrics.isReused, true)
        XCTAssertEqual(metrics.tls, .zero)
      }
    }

    func test_aTunnelThroughAProxyIsReusedWithItsCredentials() throws {
      let proxy = try LoopbackProxy(credentials: "user:secret")
      let transport = try CurlTransport(
        .init(tls: .init(trust: .pem(file: file("ca.pem"))), proxy: .url(try proxy.url(user: "user:secret"))))
      for isReused in [false, true] {
        let pending = PendingCall(self)
        _ = pending.send(Request(url: try url("TLS")), on: transport)
        let reply = try pending.outcome().get()
        XCTAssertEqual(reply.status, 200)
        XCTAssertEqual(reply.metrics?.isReused, isReused)
      }
      XCTAssertEqual(proxy.heads.count, 1)
    }

    func test_pausingOneStreamDoesNotBlockOthers() throws {
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: file("ca.pem")))))
      let large = try url("TLS").deletingLastPathComponent().appending(path: "large.json")
      let paused = PendingStream(self) { _ in .pause }
      let control = paused.start(Request(url: large), on: transport)
      let pendingCalls = (0..<20).map { _ in PendingCall(self) }
      for pending in pendingCalls { _ = pending.send(Request(url: large), on: transport) }
      for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().status, 200) }
      while !paused.isOver { control.resume() }
      XCTAssertEqual(try paused.outcome().get().status, 200)
      XCTAssertEqual(paused.body, try Data(contentsOf: file("root/large.json")))
    }
  }
#endif
