// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import LoopbackServer
  import NetLayer
  import Synchronization
  import XCTest

  @testable import HTTPTransport

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  final class URLSessionConfigurationTests: XCTestCase {
    private typealias Configuration = URLSessionTransport.Configuration

    func test_theTransportOwnsItsPropertiesOfTheSession() {
      let configuration = Configuration(maxConnectionsPerHost: 3) { session in
        session.allowsCellularAccess = false
        session.networkServiceType = .background
        session.protocolClasses = [Refusal.self]
        session.httpMaximumConnectionsPerHost = 99
        session.httpCookieStorage = .shared
        session.httpCookieAcceptPolicy = .always
        session.httpShouldSetCookies = true
        session.urlCache = .shared
        session.requestCachePolicy = .returnCacheDataElseLoad
        session.urlCredentialStorage = .shared
        session.httpAdditionalHeaders = ["Authorization": "secret"]
        session.timeoutIntervalForRequest = 1
        session.timeoutIntervalForResource = 1
      }
      let session = configuration.makeSessionConfiguration()
      XCTAssertFalse(session.allowsCellularAccess)
      XCTAssertEqual(session.networkServiceType, .background)
      XCTAssert(session.protocolClasses?.first == Refusal.self)
      XCTAssertEqual(session.httpMaximumConnectionsPerHost, 3)
      XCTAssertNil(session.httpCookieStorage)
      XCTAssertEqual(session.httpCookieAcceptPolicy, .never)
      XCTAssertFalse(session.httpShouldSetCookies)
      XCTAssertNil(session.urlCache)
      XCTAssertEqual(session.requestCachePolicy, .reloadIgnoringLocalCacheData)
      XCTAssertNil(session.urlCredentialStorage)
      XCTAssertNil(session.httpAdditionalHeaders)
      XCTAssertEqual(session.timeoutIntervalForRequest, 86_400)
      XCTAssertEqual(session.timeoutIntervalForResource, 365 * 86_400)
    }

    /// A protocol that only marks the list of protocols.
    private final class Refusal: URLProtocol {
      override class func canInit(with request: URLRequest) -> Bool { false }
    }

    func test_requestsUseTheConfigurationOfTheCaller() throws {
      let server = try TestServer { _ in .text("ok") }
      let calls = Counter()
      let transport = URLSessionTransport(
        .init { session in
          calls.increment()
          session.httpAdditionalHeaders = ["X-Added": "secret"]
        })
      for _ in 0..<2 {
        let outcome = try outcome(Request(url: server.url("/")), on: transport)
        XCTAssertEqual(try outcome.get().status, 200)
      }
      XCTAssertEqual(calls.value, 1)
      XCTAssertEqual(server.requests.flatMap(\.headers).filter { $0.name == "X-Added" }.map(\.value), [])
    }

    private final class Counter: Sendable {
      private let count = Atomic<Int>(0)
      var value: Int { count.load(ordering: .relaxed) }
      func increment() { count.add(1, ordering: .relaxed) }
    }

    private var pin: PublicKeyPin { get throws { try PublicKeyPin(Data(count: 32).base64EncodedString()) } }

    private func check(
      _ failure: NetworkError?, _ words: String, kind: NetworkError.Kind = .invalidRequest, line: UInt = #line
    ) {
      XCTAssertEqual(failure?.kind, kind, line: line)
      XCTAssert(failure?.reason.contains(words) == true, failure?.reason ?? "no failure", line: line)
    }

    func test_everyUnsupportedSettingOfLinuxIsNamedWithItsRemedy() throws {
      let identity = TLSOptions.Identity.pkcs12(Data(), password: "")
      for (tls, name) in [
        (TLSOptions(trust: .pem(Data(TestCertificates.authority.utf8))), "trust"),
        (.init(identity: identity), "identity"),
        (.init(pins: ["h": [try pin]]), "pins"), (.init(minVersion: .v1_3), "minVersion"),
      ] {
        check(
          Configuration(tls: tls).failure(on: .linux, environment: [:]),
          "does not support TLSOptions.\(name); use CurlTransport")
      }
      let url = try XCTUnwrap(URL(string: "http://proxy.example"))
      check(
        Configuration(proxy: .url(url)).failure(on: .linux, environment: [:]),
        "does not support ProxyOptions.url; use CurlTransport")
      for (name, value) in [("http_proxy", "h"), ("ALL_PROXY", "h")] {
        check(
          Configuration(proxy: ProxyOptions.none).failure(on: .linux, environment: [name: value]),
          "while the variable \(name) names a proxy; use CurlTransport, or remove the variable")
      }
      for proxy in [nil, .environment, ProxyOptions.none] {
        XCTAssertNil(Configuration(proxy: proxy).failure(on: .linux, environment: ["http_proxy": ""]))
      }
    }

    func test_everyUnsupportedSettingOfApplePlatformsIsNamedWithItsRemedy() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString).pem")
      try Data().write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      check(
        Configuration(tls: .init(identity: .init(certificate: file, key: file))).failure(on: .apple),
        "use TLSOptions.Identity.pkcs12")
      check(Configuration(proxy: .environment).failure(on: .apple), "ProxyOptions.environment is not supported")
      let proxy = ProxyOptions.url(try XCTUnwrap(URL(string: "https://proxy.example")))
      let trust = TLSOptions.Trust.pem(Data(TestCertificates.authority.utf8))
      check(
        Configuration(tls: .init(trust: trust), proxy: proxy).failure(on: .apple),
        "does not support TLSOptions.trust with an https proxy; use an http proxy")
      let identity = TLSOptions.Identity.pkcs12(Data(), password: "")
      for configuration in [
        Configuration(tls: .init(trust: trust, identity: identity, pins: ["h": [try pin]], minVersion: .v1_3)),
        Configuration(proxy: proxy), Configuration(proxy: ProxyOptions.none), Configuration(),
      ] {
        XCTAssertNil(configuration.failure(on: .apple))
      }
    }

    func test_anInvalidSettingIsRejectedOnEveryPlatform() {
      for platform in [Configuration.Platform.apple, .linux] {
        check(Configuration(maxConnectionsPerHost: 0).failure(on: platform), "maxConnectionsPerHost is 0")
        check(Configuration(maxBodySize: -1).failure(on: platform), "maxBodySize is -1")
        check(Configuration(tls: .init(pins: ["h": []])).failure(on: platform), "no pin for h", kind: .tls)
      }
    }

    func test_eachRequestFailsWithTheErrorOfTheSettings() throws {
      let server = try TestServer { _ in .text("ok") }
      let transport = URLSessionTransport(.init(tls: .init(pins: ["h": []])))
      for _ in 0..<2 {
        guard case .failure(let error) = try outcome(Request(url: server.url("/")), on: transport) else {
          return XCTFail("the request was sent")
        }
        check(error, "no pin for h", kind: .tls)
        XCTAssertEqual(error.request?.url, server.url("/"))
      }
      XCTAssertEqual(server.requests.count, 0)
    }
  }
#endif
