#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  @testable import HTTPTransport
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

    func test_aProxyOfAnotherSchemeOrWithoutAHostIsRefused() throws {
      for text in ["ftp://127.0.0.1:1", "socks4://127.0.0.1:1", "http:///x", "proxy:8080"] {
        let proxy = try XCTUnwrap(URL(string: text))
        XCTAssertThrowsError(try CurlTransport(.init(proxy: .url(proxy))), text) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest, text)
          XCTAssert("\(error)".contains("use the scheme http, https, socks5 or socks5h, and a host"), "\(error)")
        }
      }
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
        let proxys = "the proxy \(try proxy.url().hostAndPort) for 127.0.0.1:8443"
        XCTAssert(error.reason.hasPrefix(proxys), "\(status): \(error.reason)")
        XCTAssert(error.reason.contains("it responded to CONNECT with \(status)"), "\(status): \(error.reason)")
        XCTAssertEqual(error.reason.contains("correct them in Configuration.proxy"), status == 407, error.reason)
        XCTAssertEqual(proxy.heads.count, 1, "\(status)")
        XCTAssert(
          proxy.heads[0].hasPrefix("CONNECT 127.0.0.1:8443 HTTP/1.1\r\nHost: 127.0.0.1:8443\r\n"), proxy.heads[0])
        XCTAssert(proxy.heads[0].contains(Self.credentials), "\(status): \(proxy.heads[0])")
        XCTAssertFalse(proxy.heads[0].contains("secret"), "the path is the server's alone")
      }
    }

    /// Servers that are not the proxy that a request needs, the URL of the request, and the error.
    private static let failures:
      [(name: String, scheme: String, url: String, reply: String?, kind: NetworkError.Kind, says: String)] = [
        (
          "closes", "http", "http://svc.test/", "", .connection,
          "closed the connection without a response; try again, or check"
        ),
        ("closes at CONNECT", "http", "https://svc.test/", "", .connection, "try again, or check"),
        (
          "garbage at CONNECT", "http", "https://svc.test/", "SSH-2.0-x\r\n\r\n", .parse,
          "check the scheme and the port of"
        ),
        ("garbage", "http", "http://svc.test/", "SSH-2.0-x\r\n\r\n", .parse, "check the scheme and the port of"),
        ("a SOCKS reply", "http", "http://svc.test/", "\u{5}\u{0}", .parse, "check the scheme and the port of"),
        ("401", "http", "https://svc.test/", "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", .connection, "only Basic"),
        (
          "403", "http", "https://svc.test/", "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", .connection,
          "allows this host"
        ),
        (
          "503", "http", "https://svc.test/", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", .connection,
          "try again, or check the server"
        ),
        (
          "60 KB of fields", "http", "https://svc.test/",
          "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "x", count: 60_000))\r\n\r\n",
          .parse, "is too large; check"
        ),
        (
          "an HTTP server", "socks5h", "http://svc.test/", "HTTP/1.1 400 Bad\r\n\r\n", .connection,
          "rejected the connection"
        ),
        (
          "TLS without it", "https", "http://svc.test/", "HTTP/1.1 400 Bad\r\n\r\n", .tls,
          "use the scheme http, or another port"
        ),
        ("refuses", "http", "http://svc.test/", nil, .connection, "check {}, and that a proxy is listening there"),
        ("refuses", "http", "https://svc.test/", nil, .connection, "check {}, and that a proxy is listening there"),
        ("refuses", "socks5h", "http://svc.test/", nil, .connection, "check {}, and that a proxy is listening there"),
      ]

    func test_anErrorOfAProxyNamesTheProxyAndItsSetting() throws {
      for row in Self.failures {
        let server = try RawServer { client, _ in
          guard let reply = row.reply else { return }
          if reply.isEmpty { _ = client.receiveHead() } else { client.send(reply) }
          if !reply.isEmpty { _ = client.receive(until: nil) }
        }
        let closed = try TestServer { _ in .text("never") }
        closed.stop()
        let place = "127.0.0.1:\(row.reply == nil ? closed.port : server.port)"
        let proxy = "\(row.scheme)://\(place)"
        let variable = row.url.hasPrefix("https") ? "https_proxy" : "http_proxy"
        for (setting, options) in [
          ("Configuration.proxy", ProxyOptions.url(try XCTUnwrap(URL(string: proxy)))),
          ("the variable \(variable)", .environment),
        ] {
          setenv(variable, proxy, 1)
          defer { unsetenv(variable) }
          let transport = try CurlTransport(.init(tls: .init(trust: makeTestTrust()), proxy: options))
          let url = try XCTUnwrap(URL(string: row.url))
          guard case .failure(let error) = try outcome(url, on: transport) else { return XCTFail(row.name) }
          XCTAssertEqual(error.kind, row.kind, "\(row.name): \(error.reason)")
          XCTAssert(error.reason.contains("the proxy \(place) for svc.test:"), "\(row.name): \(error.reason)")
          let says = row.says.replacing("{}", with: setting)
          XCTAssert(error.reason.contains(says), "\(row.name): \(error.reason)")
          if !["403", "503", "401"].contains(row.name) || row.name == "401" {
            XCTAssert(error.reason.contains(setting), "\(row.name): \(error.reason)")
          }
        }
      }
    }

    func test_aNameThatCannotBeResolvedIsThatOfItsSide() throws {
      for (proxy, url, says) in [
        ("http://proxy.invalid", "http://127.0.0.1:1/", "the host of the proxy proxy.invalid:80"),
        ("https://proxy.invalid", "https://127.0.0.1:1/", "the host of the proxy proxy.invalid:443"),
        ("socks5h://proxy.invalid:81", "http://127.0.0.1:1/", "the host of the proxy proxy.invalid:81"),
        ("socks5://127.0.0.1:{}", "http://origin.invalid/", "the host origin.invalid"),
      ] {
        let socks = try RawServer { client, _ in
          client.send("\u{5}\u{0}")
          _ = client.receive(until: nil)
        }
        setenv("all_proxy", proxy.replacing("{}", with: "\(socks.port)"), 1)
        defer { unsetenv("all_proxy") }
        let transport = try CurlTransport(.init(tls: .init(trust: makeTestTrust()), proxy: .environment))
        guard case .failure(let error) = try outcome(try XCTUnwrap(URL(string: url)), on: transport) else {
          return XCTFail(proxy)
        }
        XCTAssertEqual(error.kind, .unknownHost, "\(proxy): \(error.reason)")
        XCTAssert(error.reason.contains("\(says) can't be resolved"), "\(proxy): \(error.reason)")
      }
    }

    func test_aVariableSelectsTheProxyByTheSchemeOfEachRequest() throws {
      let (first, second) = (try LoopbackProxy(), try LoopbackProxy(tunnelStatus: 403))
      let server = try TestServer(routes: TestRoutes.make())
      let names = ["http_proxy", "https_proxy", "no_proxy"]
      defer { for name in names { unsetenv(name) } }
      setenv("http_proxy", try first.url().absoluteString, 1)
      setenv("https_proxy", try second.url().absoluteString, 1)
      let transport = try CurlTransport(.init(tls: .init(trust: makeTestTrust()), proxy: .environment))
      let secure = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      for _ in 0..<2 {
        XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().status, 200)
        XCTAssertEqual(TransportSuite.kind(try outcome(secure, on: transport)), .connection)
      }
      XCTAssertEqual([first.heads.count, second.heads.count], [2, 2])
      // The environment may change.
      unsetenv("http_proxy")
      XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().status, 200)
      setenv("http_proxy", "foo://127.0.0.1:1", 1)
      XCTAssertEqual(TransportSuite.kind(try outcome(server.url("/text"), on: transport)), .invalidRequest)
      setenv("http_proxy", try first.url().absoluteString, 1)
      setenv("no_proxy", "127.0.0.0/8", 1)
      XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().status, 200)
      XCTAssertEqual(first.heads.count, 2)
    }

    func test_theVariableOfAScheme_precedesTheOneOfAllSchemes() throws {
      let (own, all) = (try LoopbackProxy(), try LoopbackProxy(tunnelStatus: 403))
      let server = try TestServer(routes: TestRoutes.make())
      defer { for name in ["http_proxy", "all_proxy"] { unsetenv(name) } }
      setenv("http_proxy", try own.url().absoluteString, 1)
      setenv("all_proxy", try all.url().absoluteString, 1)
      let transport = try CurlTransport(.init(tls: .init(trust: makeTestTrust()), proxy: .environment))
      XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().status, 200)
      XCTAssertEqual([own.heads.count, all.heads.count], [1, 0])
      let secure = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      XCTAssertEqual(TransportSuite.kind(try outcome(secure, on: transport)), .connection)
      XCTAssertEqual([own.heads.count, all.heads.count], [1, 1])
    }

    /// A CGI program has the request's field `Proxy` as `HTTP_PROXY`, which any client can send.
    func test_theVariableHTTP_PROXYIsIgnored() throws {
      let proxy = try LoopbackProxy()
      let server = try TestServer(routes: TestRoutes.make())
      setenv("HTTP_PROXY", try proxy.url().absoluteString, 1)
      defer { unsetenv("HTTP_PROXY") }
      let transport = try CurlTransport(.init(proxy: .environment))
      XCTAssertEqual(try outcome(server.url("/text"), on: transport).get().status, 200)
      XCTAssertEqual([proxy.heads.count, server.requestCount], [0, 1])
    }

    func test_aWebSocketUsesTheVariableOfItsScheme() async throws {
      let (first, second) = (try LoopbackProxy(tunnelStatus: 403), try LoopbackProxy(tunnelStatus: 403))
      defer { for name in ["http_proxy", "https_proxy"] { unsetenv(name) } }
      setenv("http_proxy", try first.url().absoluteString, 1)
      setenv("https_proxy", try second.url().absoluteString, 1)
      let transport = try CurlTransport(.init(tls: .init(trust: makeTestTrust()), proxy: .environment))
      let network = Network(Backend(transport: transport))
      for (scheme, heads) in [("ws", [1, 0]), ("wss", [1, 1])] {
        do {
          try await network.withWebSocket(.get("\(scheme)://svc.test/")) { _ in }
          XCTFail("\(scheme): no error")
        } catch { XCTAssertEqual(NetworkError.wrapping(error).kind, .connection, "\(scheme): \(error)") }
        XCTAssertEqual([first.heads.count, second.heads.count], heads, scheme)
      }
    }

    func test_theErrorOfAVariableThatChangesLater_hasTheRequest() throws {
      let transport = try CurlTransport(.init(proxy: .environment))
      setenv("http_proxy", "foo://127.0.0.1:1", 1)
      defer { unsetenv("http_proxy") }
      let url = try XCTUnwrap(URL(string: "http://svc.test/a"))
      guard case .failure(let error) = try outcome(url, on: transport) else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssertEqual(error.request?.url, url)
    }

    func test_exceptionsAreThoseOfLibcurl() throws {
      for (list, host, isException) in [
        ("example.com", "example.com", true), ("example.com", "api.example.com", true),
        (".example.com", "example.com", true), ("example.com", "notexample.com", false),
        ("EXAMPLE.com.", "example.COM", true), ("a, example.com", "example.com.", true), ("a b", "b", true),
        ("*", "x", true), ("", "x", false), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.11", false),
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/9", "10.128.0.1", false), ("10.0.0.0/33", "10.0.0.1", false),
        ("::1/128", "::1", true), ("[::1]", "::1", true), ("fe80::/10", "febf::1", true), ("10.0.0.0/8", "h", false),
      ] {
        setenv("no_proxy", list, 1)
        defer { unsetenv("no_proxy") }
        XCTAssertEqual(ProxyOptions.environment.bypasses(host), isException, "\(list) \(host)")
      }
      // libcurl ignores an empty variable.
      setenv("no_proxy", "", 1)
      setenv("NO_PROXY", "b", 1)
      defer { for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) } }
      XCTAssertTrue(ProxyOptions.environment.bypasses("b"))
    }

    func test_theHostIsThatOfTheURL_onAKeptConnectionToAProxy() throws {
      let heads = Locked<[String]>([])
      let proxy = try RawServer { client, _ in
        while let head = client.receiveHead() {
          heads.withLock { $0.append(head) }
          client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
      }
      let transport = try CurlTransport(
        .init(proxy: .url(try XCTUnwrap(URL(string: "http://127.0.0.1:\(proxy.port)")))))
      for (url, host) in [
        ("http://[2001:db8::1]/", "[2001:db8::1]"), ("http://nosuch.test/", "nosuch.test"),
        ("http://127.0.0.5/", "127.0.0.5"), ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
        ("http://u:p@Nosuch.test:81/", "Nosuch.test:81"), ("http://bücher.test:80/", "xn--bcher-kva.test"),
        ("http://nosuch.test:/", "nosuch.test"), ("http://[2001:db8::2]:81/", "[2001:db8::2]:81"),
      ] {
        XCTAssertEqual(try outcome(try XCTUnwrap(URL(string: url)), on: transport).get().status, 200)
        let fields = heads.withLock { $0.last ?? "" }.split(separator: "\r\n").filter { $0.hasPrefix("Host:") }
        XCTAssertEqual(fields, ["Host: \(host)"], url)
      }
      let own = Request(url: try XCTUnwrap(URL(string: "http://nosuch.test/")), headers: ["Host": "own.test"])
      let pending = PendingCall(self)
      _ = pending.send(own, on: transport)
      XCTAssertEqual(try pending.outcome().get().request.headers, own.headers)
      XCTAssert(heads.withLock { $0.last ?? "" }.contains("Host: own.test\r\n"))
    }

    func test_aProxyCannotReadATunnel() throws {
      let proxy = try LoopbackProxy()
      let trust = try makeTestTrust()
      let transport = try CurlTransport(
        .init(tls: .init(trust: trust), proxy: .url(try proxy.url(user: "user:p%40ss"))))
      // The server does not support TLS, so the TLS failure shows that the tunneled bytes have reached it.
      let server = try TestServer { _ in .text("never") }
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/"))
      guard case .failure(let error) = try outcome(url, on: transport) else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .tls)
      XCTAssert(error.reason.hasPrefix("127.0.0.1:\(server.port) did not respond with TLS"), error.reason)
      // The tunnel may reach the server later than its end reaches the client.
      until { server.connectionCount == 1 }
      XCTAssertEqual(proxy.heads.count, 1)
    }
  }
#endif
