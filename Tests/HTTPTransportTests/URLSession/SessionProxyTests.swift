// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import Foundation
  import XCTest

  @testable import HTTPTransport

  final class SessionProxyTests: XCTestCase {
    private func proxy(_ url: String, except hosts: [String] = []) throws -> SessionProxy {
      try SessionProxy(.url(try XCTUnwrap(URL(string: url)), except: hosts))
    }

    func test_aProxyHasTheKindPortAndCredentialsOfItsURL() throws {
      XCTAssertEqual(try SessionProxy(nil), .system)
      XCTAssertEqual(try SessionProxy(ProxyOptions.none), SessionProxy.none)
      for (url, server) in [
        ("http://proxy.example", SessionProxy.Server(kind: .http, host: "proxy.example", port: 80)),
        ("HTTPS://Proxy.example:8443", .init(kind: .https, host: "proxy.example", port: 8443)),
        ("https://proxy.example", .init(kind: .https, host: "proxy.example", port: 443)),
        ("socks5h://127.0.0.1", .init(kind: .socks, host: "127.0.0.1", port: 1080)),
        (
          "http://me:p%40ss@[::1]:1", .init(kind: .http, host: "0:0:0:0:0:0:0:1", port: 1, user: "me", password: "p@ss")
        ),
      ] {
        XCTAssertEqual(try proxy(url), .server(server), url)
      }
    }

    func test_exceptionsAreDomains() throws {
      guard case .server(let server) = try proxy("http://h", except: [".Example.com", "localhost", "a.b"]) else {
        return XCTFail("no server")
      }
      XCTAssertEqual(server.excludedDomains, ["example.com", "localhost", "a.b"])
      for text in ["*", "10.0.0.0/8", "127.0.0.1", "::1", "", "a b", "*.example.com"] {
        XCTAssertThrowsError(try proxy("http://h", except: ["a.b", text]), text) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
          XCTAssert("\(error)".contains("use a domain such as example.com"), "\(error)")
        }
      }
    }

    func test_anUnsupportedProxyIsRejectedWithItsRemedy() throws {
      for (url, words) in [
        ("socks5://h", "use the scheme socks5h"), ("ftp://h", "is not valid"), ("http://", "is not valid"),
        ("h:1", "is not valid"), ("http://h:0", "is not valid"), ("http://u:secret@h:70000", "is not valid"),
      ] {
        XCTAssertThrowsError(try proxy(url), url) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
          XCTAssert((error as? NetworkError)?.reason.contains(words) == true, "\(error)")
          XCTAssertFalse((error as? NetworkError)?.reason.contains("secret") == true, "\(error)")
        }
      }
      XCTAssertThrowsError(try SessionProxy(.environment)) { error in
        XCTAssert("\(error)".contains("use ProxyOptions.url, or nil for the system's proxy"), "\(error)")
      }
    }
  }
#endif
