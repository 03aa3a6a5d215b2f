#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of the data that a proxy and the servers behind it receive. `TLSInteropTests` tests a tunnel with TLS.
  final class ProxyTests: XCTestCase {
    private func outcome(_ url: URL, on transport: CurlTransport) throws -> TransportSuite.Outcome {
      let pending = PendingCall(self)
      _ = pending.send(Request(url: url), on: transport)
      return try pending.outcome()
    }

    private static let credentials = "Proxy-Authorization: Basic \(Data("user:p@ss".utf8).base64EncodedString())\r\n"

    func test_credentialsInTheProxyURLAreSentOnlyToTheProxy() throws {
      let proxy = try LoopbackProxy(credentials: "user:p@ss")
      let transport = try CurlTransport(.init(proxy: .url(try proxy.url(user: "user:p%40ss"))))
      let server = try TestServer(routes: TestRoutes.make())
      XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().body, Data("hello".utf8))
      XCTAssertEqual(proxy.heads.count, 1)
      XCTAssert(proxy.heads[0].hasPrefix("GET \(server.url("/text").absoluteString) HTTP/1.1\r\n"), proxy.heads[0])
      XCTAssert(proxy.heads[0].contains(Self.credentials), proxy.heads[0])
      XCTAssertNil(server.requests.first?.header("Proxy-Authorization"))
    }

    func test_aProxyThatRequiresCredentialsRespondsWith407() throws {
      let server = try TestServer(routes: TestRoutes.make())
      for user in [nil, "user:wrong"] {
        let proxy = try LoopbackProxy(credentials: "user:p@ss")
        let transport = try CurlTransport(.init(proxy: .url(try proxy.url(user: user))))
        let reply = try outcome(server.url("/text"), on: transport).get()
        XCTAssertEqual(reply.status, 407)
        XCTAssertEqual(reply.headers["Proxy-Authenticate"], #"Basic realm="test""#)
        XCTAssertEqual(proxy.heads.count, 1)
      }
      XCTAssertEqual(server.requestCount, 0)
    }

    func test_aRedirectToAnExceptedHostBypassesTheProxyAndItsCredentials() throws {
      let proxy = try LoopbackProxy(credentials: "user:p@ss")
      let transport = try CurlTransport(
        .init(proxy: .url(try proxy.url(user: "user:p%40ss"), except: ["localhost"])))
      let direct = try TestServer(routes: TestRoutes.make())
      let through = try TestServer { _ in .redirect(to: "http://localhost:\(direct.port)/headers") }
      let reply = try outcome(through.url("/"), on: transport).get()
      XCTAssertEqual(reply.status, 200)
      XCTAssertFalse(String(decoding: reply.body, as: UTF8.self).contains("Proxy-"))
      XCTAssertEqual(direct.requests.first?.target, "/headers")
      XCTAssertEqual(through.requestCount, 1)
      XCTAssertEqual(proxy.heads.count, 1)
    }

    func test_connectHasTheCredentialsAndARejectionIsReported() throws {
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:8443/secret?q=1"))
      for (status, credentials) in [(403, nil), (502, nil), (407, "other:one")] {
        let proxy = try LoopbackProxy(credentials: credentials, tunnelStatus: status)
        let transport = try CurlTransport(.init(proxy: .url(try proxy.url(user: "user:p%40ss"))))
        guard case .failure(let error) = try outcome(url, on: transport) else { return XCTFail("no error") }
        XCTAssertEqual(error.kind, .connection, "\(status)")
        XCTAssert(
          error.reason.contains("responded to CONNECT to 127.0.0.1:8443 with \(status)"), "\(status): \(error.reason)")
        XCTAssert(error.reason.contains("check Configuration.proxy"), "\(status): \(error.reason)")
        XCTAssertEqual(proxy.heads.count, 1, "\(status)")
        XCTAssert(
          proxy.heads[0].hasPrefix("CONNECT 127.0.0.1:8443 HTTP/1.1\r\nHost: 127.0.0.1:8443\r\n"), proxy.heads[0])
        XCTAssert(proxy.heads[0].contains(Self.credentials), "\(status): \(proxy.heads[0])")
        XCTAssertFalse(proxy.heads[0].contains("secret"), "the path is the server's alone")
      }
    }

    func test_aProxyCannotReadATunnel() throws {
      let proxy = try LoopbackProxy()
      let trust = try makeTestTrust()
      let transport = try CurlTransport(
        .init(tls: .init(trust: trust), proxy: .url(try proxy.url(user: "user:p%40ss"))))
      // The server does not support TLS, so the TLS failure shows that the tunneled bytes have reached it.
      let server = try TestServer { _ in .text("never") }
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      XCTAssertEqual(TransportSuite.kind(try outcome(url, on: transport)), .tls)
      // The tunnel may reach the server later than its end reaches the client.
      until { server.connectionCount == 1 }
      XCTAssertEqual(proxy.heads.count, 1)
    }
  }
#endif
