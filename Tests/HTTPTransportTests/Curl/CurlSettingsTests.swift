#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of security settings that libcurl rejects. libcurl rejects any text above 8 MB, which these tests use.
  final class CurlSettingsTests: XCTestCase {
    private let tooLong = 8_000_001

    /// Asserts that two consecutive requests over `scheme` fail with an error that names `setting`, before anything is
    /// sent.
    private func assertRefused(
      _ configuration: CurlTransport.Configuration, _ kind: NetworkError.Kind, _ setting: String,
      scheme: String = "http", file: StaticString = #filePath, line: UInt = #line
    ) throws {
      let server = try TestServer { _ in .text("never") }
      let transport = try CurlTransport(configuration)
      let url = try XCTUnwrap(URL(string: "\(scheme)://127.0.0.1:\(server.port)/"))
      for _ in 0..<2 {
        let pending = PendingCall(self)
        _ = pending.send(Request(url: url), on: transport)
        guard case .failure(let error) = try pending.outcome() else {
          return XCTFail("it was sent without \(setting)", file: file, line: line)
        }
        XCTAssertEqual(error.kind, kind, error.reason, file: file, line: line)
        XCTAssertEqual(error.request?.url, url, file: file, line: line)
        XCTAssert(error.reason.contains("not accept \(setting)"), error.reason, file: file, line: line)
        // With GnuTLS, libcurl does not support all of the settings.
        let remedies = ["check its value", "install a libcurl with OpenSSL"]
        let isSaid = error.reason.contains("nothing was sent") && remedies.contains { error.reason.contains($0) }
        XCTAssert(isSaid, error.reason, file: file, line: line)
      }
      XCTAssertEqual(server.connectionCount, 0, file: file, line: line)
    }

    func test_nothingIsSentIfThePinsAreRejected() throws {
      let pin = try PublicKeyPin(Data(count: 32).base64EncodedString())
      let pins = [PublicKeyPin](repeating: pin, count: tooLong / pin.description.utf8.count + 1)
      try assertRefused(.init(tls: .init(pins: ["127.0.0.1": pins])), .tls, "TLSOptions.pins", scheme: "https")
    }

    func test_nothingIsSentIfTheCAsAreRejected() throws {
      let pem = Data(repeating: 0x0a, count: tooLong)
      let configuration = CurlTransport.Configuration(tls: .init(trust: .pem(pem)))
      guard CurlLibrary.isAtLeast(0x07_4d00) else {
        // libcurl before 7.77 does not have this setting, so creating the transport fails.
        return XCTAssertThrowsError(try CurlTransport(configuration)) {
          XCTAssertEqual(($0 as? NetworkError)?.kind, .tls)
        }
      }
      try assertRefused(configuration, .tls, "TLSOptions.trust", scheme: "https")
    }

    func test_nothingIsSentIfTheClientIdentityIsRejected() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString).pem")
      try Data("no key".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let password = String(repeating: "x", count: tooLong)
      let identity = TLSOptions.Identity(certificate: file, key: file, password: password)
      try assertRefused(
        .init(tls: .init(identity: identity)), .tls, "the password of TLSOptions.identity", scheme: "https")
    }

    func test_nothingIsSentIfTheProxyOrItsExceptionsAreRejected() throws {
      let proxy = try XCTUnwrap(URL(string: "http://127.0.0.1:1/"))
      try assertRefused(
        .init(proxy: .url(proxy, except: [String(repeating: "x", count: tooLong)])), .invalidRequest,
        "the exceptions of Configuration.proxy")
      let long = try XCTUnwrap(URL(string: "http://127.0.0.1:1/" + String(repeating: "x", count: tooLong)))
      try assertRefused(.init(proxy: .url(long)), .invalidRequest, "the URL of Configuration.proxy")
    }

    func test_rejectedPinsOfOneHostDoNotAffectOtherHosts() throws {
      let pin = try PublicKeyPin(Data(count: 32).base64EncodedString())
      let pins = [PublicKeyPin](repeating: pin, count: tooLong / pin.description.utf8.count + 1)
      let transport = try CurlTransport(.init(tls: .init(pins: ["localhost": pins]), maxConnections: 1))
      let server = try TestServer { _ in .text("ok") }
      for (url, isSent) in [("https://localhost:\(server.port)", false), (server.url.absoluteString, true)] {
        let pending = PendingCall(self)
        _ = pending.send(Request(url: try XCTUnwrap(URL(string: url))), on: transport)
        XCTAssertEqual(TransportSuite.kind(try pending.outcome()), isSent ? nil : .tls)
      }
    }
  }
#endif
