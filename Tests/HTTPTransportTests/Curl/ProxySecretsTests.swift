#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// No part of an error shows the password of a proxy.
  final class ProxySecretsTests: XCTestCase {
    /// Values that libcurl rejects, each with the remedy. `s3cret`, `t0p` and `97531` are parts of the password.
    private static let rejected = [
      ("foo://user:s3cret@127.0.0.1:1", "use the scheme"),
      ("\"http://user:s3cret@127.0.0.1:1\"", "remove the quotes"),
      ("'user:s3cret@127.0.0.1:1'", "remove the quotes"),
      (" http://user:s3cret@127.0.0.1:1", "spaces"),
      ("http://user:s3cret@127.0.0.1:1 ", "spaces"),
      ("http://user:s3cret t0p@127.0.0.1:1", "%20"),
      ("user:s3cret://t0p@127.0.0.1:1", "use the scheme"),
      ("http://user:s3cret@t0p@127.0.0.1:1", "percent-encode"),
      ("http://user:s3cret#t0p@127.0.0.1:1", "percent-encode"),
      ("http://user:s3cret/t0p@127.0.0.1:1", "percent-encode"),
      ("http://user:s3cret?t0p@127.0.0.1:1", "percent-encode"),
      ("http://user:97531/t0p@127.0.0.1:1", "percent-encode"),
      ("http://user:s3cret@127.0.0.1:99999", "from 1 to 65535"),
      ("http://user:s3cret@127.0.0.1:0", "from 1 to 65535"),
      ("http://user:s3cret@[::1]:65536", "from 1 to 65535"),
      ("http://user:s3cret", "from 1 to 65535"),
      ("http://user:s3cret@", "add a host"),
      ("http://user:s3cret@:1", "add a host"),
      ("http://user:s3cret@[]:1", "add a host"),
      ("http://user:s3cret%0At0p@127.0.0.1:1", "control character"),
    ]

    private func assertHidden(_ error: NetworkError, _ value: String, line: UInt = #line) {
      var dumped = ""
      dump(error, to: &dumped)
      let info = (error as NSError).userInfo
      var infoDumped = ""
      dump(info, to: &infoDumped)
      for text in [
        error.reason, String(describing: error.underlying), String(reflecting: error.underlying), "\(error)", dumped,
        "\(info)", infoDumped,
      ] {
        for part in ["s3cret", "t0p", "97531"] where text.contains(part) {
          XCTFail("\(value): \(part) is in \(text)", line: line)
        }
      }
    }

    private func failure(_ url: String, on transport: some Transport) throws -> NetworkError {
      let pending = PendingCall(self)
      _ = pending.send(Request(url: try XCTUnwrap(URL(string: url))), on: transport)
      defer { withExtendedLifetime(transport) {} }
      switch try pending.outcome() {
      case .success(let response): throw NetworkError(kind: .other, reason: "a response: \(response)")
      case .failure(let error): return error
      }
    }

    func test_aVariableThatIsNotAProxyIsRejected_byItsNameWithoutItsValue() throws {
      for (value, remedy) in Self.rejected {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
          setenv(name, value, 1)
          defer { unsetenv(name) }
          XCTAssertThrowsError(try CurlTransport(.init(proxy: .environment)), value) { thrown in
            guard let error = thrown as? NetworkError else { return XCTFail("\(thrown)") }
            XCTAssertEqual(error.kind, .invalidRequest)
            XCTAssert(error.reason.contains("the variable \(name)"), error.reason)
            XCTAssert(error.reason.contains(remedy), "\(value): \(error.reason)")
            assertHidden(error, value)
          }
        }
      }
    }

    func test_aVariableThatLibcurlAcceptsIsAccepted() throws {
      for value in [
        "", "127.0.0.1", "user:s3cret@127.0.0.1:3128", "http://127.0.0.1", "HTTP://user:s3%40t@proxy.example:065535/",
        "https://proxy.example:1/a?b#c", "socks5h://[::1]:1080", "socks4://127.0.0.1:1",
        "http://user:a'b\"c@127.0.0.1:",
      ] {
        setenv("http_proxy", value, 1)
        defer { unsetenv("http_proxy") }
        XCTAssertNoThrow(try CurlTransport(.init(proxy: .environment)), value)
      }
    }

    func test_ofTwoSpellings_onlyTheVariableThatIsUsedIsChecked() throws {
      setenv("HTTPS_PROXY", "foo://127.0.0.1", 1)
      defer { for name in ["https_proxy", "HTTPS_PROXY"] { unsetenv(name) } }
      setenv("https_proxy", "http://127.0.0.1:1", 1)
      XCTAssertNoThrow(try CurlTransport(.init(proxy: .environment)))
      setenv("https_proxy", "", 1)
      XCTAssertThrowsError(try CurlTransport(.init(proxy: .environment)))
    }

    func test_libcurlsTextAboutAVariableThatChangesLaterHidesItsPassword() throws {
      for (value, _) in Self.rejected where !value.contains("97531") {
        unsetenv("http_proxy")
        let transport = try CurlTransport(.init(proxy: .environment))
        setenv("http_proxy", value, 1)
        defer { unsetenv("http_proxy") }
        assertHidden(try failure("http://origin.invalid/", on: transport), value)
      }
    }

    func test_aPortOutsideTheRangeIsRejectedForAURL() throws {
      for port in [0, 65_536, 99_999] {
        let url = try XCTUnwrap(URL(string: "http://user:s3cret@127.0.0.1:\(port)"))
        XCTAssertThrowsError(try CurlTransport(.init(proxy: .url(url)))) { thrown in
          guard let error = thrown as? NetworkError else { return XCTFail("\(thrown)") }
          XCTAssertEqual(error.kind, .invalidRequest)
          XCTAssert(error.reason.contains("Configuration.proxy is not valid; use a port from 1 to 65535"), error.reason)
          assertHidden(error, url.absoluteString)
        }
      }
      XCTAssertNoThrow(try CurlTransport(.init(proxy: .url(try XCTUnwrap(URL(string: "http://127.0.0.1:65535"))))))
    }

    func test_aTextOfLibcurlKeepsEverythingButCredentials() {
      for (text, shown) in [
        (
          "Failed to connect to 127.0.0.1 port 1: Couldn't connect to server",
          "Failed to connect to 127.0.0.1 port 1: Couldn't connect to server"
        ),
        ("Unsupported proxy scheme for 'foo://u:p@h:1'", "Unsupported proxy scheme for '***@h:1'"),
        ("Unsupported proxy syntax in 'http://u:s3cret': a port", "Unsupported proxy syntax in '***': a port"),
        ("Could not resolve proxy: s3cret@h", "Could not resolve proxy: ***@h"),
        ("bad proxy http://u:s3'cret@h", "bad proxy http://***@h"),
        ("s3cret@h is not a host", "***@h is not a host"),
      ] {
        XCTAssertEqual(ProxyOptions.withoutCredentials(text), shown)
      }
    }

    #if HAS_URLSESSION && canImport(FoundationNetworking)
      func test_theSessionOnLinux_whichUsesLibcurl_hidesThePassword() throws {
        for (value, _) in Self.rejected where !value.contains("97531") {
          setenv("http_proxy", value, 1)
          defer { unsetenv("http_proxy") }
          let error = try failure("http://origin.invalid/", on: URLSessionTransport())
          XCTAssert(error.reason.contains("the variable http_proxy"), error.reason)
          assertHidden(error, value)
          unsetenv("http_proxy")
          let transport = URLSessionTransport()
          setenv("http_proxy", value, 1)
          assertHidden(try failure("http://origin.invalid/", on: transport), value)
        }
      }
    #endif
  }
#endif
