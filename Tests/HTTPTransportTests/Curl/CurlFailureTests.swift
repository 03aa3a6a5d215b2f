#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests that errors name the failure and the remedy.
  final class CurlFailureTests: XCTestCase {
    private func error(_ url: URL, _ configuration: CurlTransport.Configuration = .init()) throws -> NetworkError {
      let transport = try CurlTransport(configuration)
      let pending = PendingCall(self)
      let limits = Request.Timeouts(connect: .seconds(10), idle: .seconds(10), attempt: .seconds(20))
      _ = pending.send(Request(url: url, timeouts: limits), on: transport)
      switch try pending.outcome() {
      case .success(let response):
        XCTFail("\(response)")
        throw XCTSkip("no error to look at")
      case .failure(let error): return error
      }
    }

    private func error(of bytes: String, _ ending: TestServer.Response.Ending = .close) throws -> NetworkError {
      let server = try TestServer { _ in .init(body: .raw([.init(bytes)]), ending: ending) }
      return try error(server.url("/"))
    }

    private func assert(
      _ error: NetworkError, _ kind: NetworkError.Kind, says words: String..., file: StaticString = #filePath,
      line: UInt = #line
    ) {
      XCTAssertEqual(error.kind, kind, error.reason, file: file, line: line)
      for word in words { XCTAssert(error.reason.contains(word), error.reason, file: file, line: line) }
    }

    func test_anOverlongLineInAHeadIsReported() throws {
      let line = "X-Long: " + String(repeating: "x", count: 150_000) + "\r\n"
      assert(try error(of: "HTTP/1.1 200 OK\r\n\(line)Content-Length: 2\r\n\r\nok"), .parse, says: "head", "KB")
    }

    func test_anInvalidChunkSizeIsReported() throws {
      let size = String(repeating: "F", count: 20)
      let failure = try error(of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nok\r\n0\r\n\r\n")
      assert(failure, .parse, says: "127.0.0.1")
      XCTAssert(failure.reason.localizedCaseInsensitiveContains("chunk"), failure.reason)
    }

    func test_aResponseThatIsNotHTTPIsReported() throws {
      for text in ["Http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "SSH-2.0-OpenSSH\r\n", "HTTP/9.9 200\r\n\r\n"] {
        assert(try error(of: text), .parse, says: "did not respond with HTTP")
      }
    }

    func test_aConnectionThatIsResetInTheHeadIsReportedAsSuch() throws {
      for ending in [TestServer.Response.Ending.close, .reset] {
        let failure = try error(of: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nX: ", ending)
        assert(failure, .connection, says: "in the middle of the response header; try again")
        XCTAssertFalse(failure.reason.contains("body"), failure.reason)
      }
    }

    func test_anUnreachableProxyIsNamed() throws {
      let closed = try TestServer { _ in .text("never") }
      let port = closed.port
      closed.stop()
      let proxy = try XCTUnwrap(URL(string: "http://127.0.0.1:\(port)"))
      let target = try XCTUnwrap(URL(string: "http://192.0.2.1:81/"))
      assert(try error(target, .init(proxy: .url(proxy))), .connection, says: "proxy 127.0.0.1:\(port)", "192.0.2.1:81")
    }

    func test_aConnectionClosedDuringTheHandshakeIsNotReportedAsACertificateError() throws {
      let server = try RawServer { _, _ in }
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      let failure = try error(url, .init(tls: .init(trust: makeTestTrust())))
      assert(failure, .connection, says: "closed the connection during the TLS handshake")
      XCTAssertFalse(failure.reason.contains("certificate"), failure.reason)
    }

    func test_anHTTPServerAtAnHTTPSURLIsNamed() throws {
      for reply in [
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 smtp ESMTP\r\n",
      ] {
        let server = try RawServer { client, _ in
          client.send(reply)
          _ = client.receive(until: nil)
        }
        let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
        let failure = try error(url, .init(tls: .init(trust: makeTestTrust())))
        assert(failure, .tls, says: "did not respond with TLS", "http URL")
        XCTAssertFalse(failure.reason.contains("certificate"), failure.reason)
      }
    }

    func test_anAlertInsteadOfAHandshakeIsReportedByItsMeaning() throws {
      let hostile = try HostileServer()
      defer { hostile.stop() }
      let identity = TLSOptions.Identity(certificate: hostile.file("good.pem"), key: hostile.file("good.key"))
      for (alert, without, with) in [
        (40, "may require a client certificate", "may not accept the certificate of TLSOptions.identity"),
        (42, "requires a client certificate", "does not accept the client certificate"),
        (45, "ended the TLS handshake", "does not accept the client certificate"),
        (48, "ended the TLS handshake", "does not accept the client certificate"),
        (70, "supports no TLS version from 1.2 on", "supports no TLS version from 1.2 on"),
        (112, "ended the TLS handshake", "ended the TLS handshake"),
        (116, "requires a client certificate", "does not accept the client certificate"),
      ] as [(UInt8, String, String)] {
        let server = try RawServer { client, _ in
          _ = client.read(5)
          client.send([0x15, 3, 3, 0, 2, 2, alert])
          client.finish()
          _ = client.receive(until: nil)
        }
        let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
        for (own, says) in [(nil, without), (identity, with)] {
          let failure = try error(url, .init(tls: .init(trust: makeTestTrust(), identity: own)))
          assert(failure, .tls, says: says)
          XCTAssertFalse(failure.reason.contains("TLSOptions.trust"), failure.reason)
        }
      }
    }

    func test_aFileOfCAsThatDisappearsIsNamedWithTheRemedy() throws {
      let server = try RawServer { _, _ in }
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
      try Data("-----BEGIN CERTIFICATE-----".utf8).write(to: file)
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: file))))
      try FileManager.default.removeItem(at: file)
      let pending = PendingCall(self)
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      _ = pending.send(
        Request(url: url, timeouts: .init(connect: .seconds(10), idle: .seconds(10), attempt: .seconds(20))),
        on: transport)
      guard case .failure(let failure) = try pending.outcome() else { return XCTFail("it was sent") }
      assert(failure, .tls, says: "TLSOptions.trust", "ca-certificates")
    }

    func test_aConnectionThatIsClosedAfterTheHandshakeSuggestsAClientCertificate() throws {
      let hostile = try HostileServer()
      defer { hostile.stop() }
      let trust = TLSOptions.Trust.pem(file: hostile.file("ca.pem"))
      let url = try hostile.url("drop")
      assert(
        try error(url, .init(tls: .init(trust: trust))), .connection, says: "TLSOptions.identity", "client certificate")
    }

    func test_tooManyOpenFilesIsReported() throws {
      let server = try TestServer { _ in .text("ok") }
      let transport = try CurlTransport()
      let warm = PendingCall(self)
      _ = warm.send(Request(url: server.url("/")), on: transport)
      XCTAssertEqual(try warm.outcome().get().status, 200)
      // Another host, so that no kept connection is reused.
      let url = try XCTUnwrap(URL(string: "http://127.0.0.2:\(server.port)/"))
      var outcomes: [TransportSuite.Outcome] = []
      try withoutDescriptors {
        let calls = (0..<6).map { _ in PendingCall(self) }
        for call in calls { _ = call.send(Request(url: url), on: transport) }
        outcomes = try calls.map { try $0.outcome() }
      }
      for outcome in outcomes {
        guard case .failure(let failure) = outcome else { return XCTFail("it was sent") }
        assert(failure, .connection, says: "Too many open files", "raise the limit")
      }
    }

    func test_anInvalidCertificateOfTheProxyIsAttributedToTheProxy() throws {
      let hostile = try HostileServer()
      defer { hostile.stop() }
      let proxy = try hostile.url("close-notify")
      let target = try XCTUnwrap(URL(string: "https://192.0.2.1:444/"))
      assert(
        try error(target, .init(tls: .init(trust: makeTestTrust()), proxy: .url(proxy))), .tls,
        says: "the proxy 127.0.0.1:\(proxy.port ?? 0)",
        "the certificate of the proxy")
    }
  }
#endif
