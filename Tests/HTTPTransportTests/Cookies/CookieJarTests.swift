import Foundation
import NetLayer
import XCTest

@testable import HTTPTransport

/// Tests of the rules of RFC 6265.
final class CookieJarTests: XCTestCase {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func url(_ text: String) throws -> URL { try XCTUnwrap(URL(string: text)) }

  /// Returns the `Cookie` field for a request to `to`, after a response from `from` has set `fields`.
  private func header(_ fields: [String], from: String, to: String, later: Double = 0) throws -> String? {
    let jar = CookieJar()
    jar.store(HTTPHeaders(fields.map { .init(name: "Set-Cookie", value: $0) }), from: try url(from), at: now)
    return jar.header(for: try url(to), at: now + later)
  }

  /// A redirect can have a path of 90 KB. The cookies of a few such paths would fill the store.
  func test_aVeryLongDefaultPath_isTheRoot() throws {
    let long = String(repeating: "p", count: 2_000)
    XCTAssertEqual(try header(["a=1"], from: "http://h/\(long)/x", to: "http://h/"), "a=1")
    XCTAssertNil(try header(["a=1"], from: "http://h/\(long.prefix(1_000))/x", to: "http://h/"))
  }

  func test_cookiesAreSentToMatchingHostsAndPaths() throws {
    let cases: [(String, String, String, String?)] = [
      ("a=1", "http://h/", "http://h/", "a=1"), ("a=1", "http://h/", "http://h:81/x", "a=1"),
      ("a=1", "http://h/", "http://g/", nil), ("a=1", "http://api.h.com/", "http://h.com/", nil),
      ("a=1", "http://h.com/", "http://api.h.com/", nil),
      ("a=1; Domain=h.com", "http://h.com/", "http://api.h.com/", "a=1"),
      ("a=1; Domain=.h.com", "http://api.h.com/", "http://www.h.com/", "a=1"),
      ("a=1; Domain=h.com", "http://h.com/", "http://evilh.com/", nil),
      ("a=1; Domain=com", "http://h.com/", "http://g.com/", nil),
      ("a=1; Domain=g.com", "http://h.com/", "http://g.com/", nil),
      ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
      ("a=1; Path=/x", "http://h/", "http://h/x", "a=1"), ("a=1; Path=/x", "http://h/", "http://h/x/y", "a=1"),
      ("a=1; Path=/x", "http://h/", "http://h/xy", nil), ("a=1; Path=/x", "http://h/", "http://h/", nil),
      ("a=1", "http://h/a/b", "http://h/a/c", "a=1"), ("a=1", "http://h/a/b", "http://h/c", nil),
      ("a=1; Secure", "https://h/", "http://h/", nil), ("a=1; Secure", "https://h/", "https://h/", "a=1"),
      ("a=1; Secure", "http://h/", "https://h/", nil), ("a=\"x y\"; HttpOnly", "http://h/", "http://h/", "a=\"x y\""),
      ("a=b=c", "http://h/", "http://h/", "a=b=c"), ("=1", "http://h/", "http://h/", nil),
      ("a", "http://h/", "http://h/", nil),
      ("a=1", "http://h.com./", "http://h.com/", "a=1"), ("a=1", "http://h.com/", "http://h.com./", "a=1"),
      ("a=1; Domain=com.", "http://h.com./", "http://g.com./", nil),
      ("a=1; Domain=com.", "http://h.com/", "http://g.com/", nil),
      ("a=1; Domain=h.com.", "http://h.com/", "http://api.h.com/", "a=1"),
      ("a=1", "http://h/a/b/", "http://h/a/b/c", "a=1"), ("a=1", "http://h/a/b/", "http://h/a/c", nil),
      ("a=1; Path=/x/", "http://h/", "http://h/x/", "a=1"), ("a=1; Path=/x/", "http://h/", "http://h/x", nil),
      ("a=1; Path=/a%2Fb", "http://h/", "http://h/a%2Fb", "a=1"),
      ("a=1; Path=/a/b", "http://h/", "http://h/a%2Fb", nil), ("a=1; Path=/x; Path=", "http://h/", "http://h/", "a=1"),
      ("__Host-a=1; Secure; Path=/", "https://h/", "https://h/", "__Host-a=1"),
      ("__Host-a=1; Path=/", "https://h/", "https://h/", nil), ("__Host-a=1; Secure", "https://h/", "https://h/", nil),
      ("__host-a=1; Secure; Path=/; Domain=h.com", "https://h.com/", "https://h.com/", nil),
      ("__Secure-a=1; Secure", "https://h/", "https://h/", "__Secure-a=1"),
      ("__Secure-a=1", "https://h/", "https://h/", nil), ("__secure-a=1", "https://h/", "https://h/", nil),
      ("a=1\r\nX: y", "http://h/", "http://h/", nil),
      ("a=", "http://h/", "http://h/", "a="),
    ]
    for (field, from, to, expected) in cases {
      XCTAssertEqual(try header([field], from: from, to: to), expected, "\(field) from \(from) to \(to)")
    }
  }

  func test_aDomainOfOneLabelSetsAHostOnlyCookie() throws {
    for host in ["localhost", "intranet", "LOCALHOST", "localhost."] {
      for domain in [host, "." + host, host + "."] where !domain.hasSuffix("..") {
        let field = "a=1; Domain=\(domain)"
        XCTAssertEqual(try header([field], from: "http://\(host)/", to: "http://\(host)/"), "a=1", field)
        for below in ["x.\(host)", "a.b.\(host)"] {
          XCTAssertNil(try header([field], from: "http://\(host)/", to: "http://\(below)/"), "\(field) to \(below)")
          XCTAssertNil(try header([field], from: "http://\(below)/", to: "http://\(below)/"), "\(field) from \(below)")
        }
        let jar = CookieJar()
        jar.store(["Set-Cookie": field], from: try url("http://\(host)/"), at: now)
        XCTAssertEqual(jar.cookies.map(\.isForSubdomains), [false], field)
      }
    }
  }

  /// RFC 6265bis §5.6.3 and §5.7: the last Domain decides, and an empty one is that of the host.
  func test_theLastDomainDecides() throws {
    let (host, below) = ("https://www.example.com/", "https://x.example.com/")
    let cases: [(String, toHost: String?, toBelow: String?)] = [
      ("a=1; Domain=shop.example.com; Domain=example.com", "a=1", "a=1"),
      ("a=1; Domain=other.com; Domain=example.com", "a=1", "a=1"),
      ("a=1; Domain=example.com; Domain=other.com", nil, nil),
      ("a=1; Domain=example.com; Domain=", "a=1", nil), ("a=1; Domain=other.com; Domain=", "a=1", nil),
      ("a=1; Domain=other.com; Domain", "a=1", nil), ("a=1; Domain=other.com; Domain=.", "a=1", nil),
      ("a=1; Domain=; Domain=example.com", "a=1", "a=1"), ("a=1; domain=com; DOMAIN=.Example.com", "a=1", "a=1"),
      ("a=1; Domain=example.com; Domain=www.example.com", "a=1", nil), ("a=1; Domain=..example.com", nil, nil),
      ("a=1; Domain=example.com; Domain=\(String(repeating: "d", count: 1_025))", "a=1", "a=1"),
      ("__Host-a=1; Secure; Path=/; Domain=example.com; Domain=", "__Host-a=1", nil),
      ("__Host-a=1; Secure; Path=/; Domain=; Domain=www.example.com", nil, nil),
      ("__Host-a=1; Secure; Path=/x; Path=/", "__Host-a=1", nil), ("__Host-a=1; Secure; Path=/; Path=/x", nil, nil),
    ]
    for (field, toHost, toBelow) in cases {
      XCTAssertEqual(try header([field], from: host, to: host), toHost, field)
      XCTAssertEqual(try header([field], from: host, to: below), toBelow, field)
    }
  }

  func test_aHostCookieHasThePathOfTheRoot() throws {
    let cases: [(String, String?)] = [
      ("Path=/", "a"), ("Path=/; Path=/x", nil), ("Path=/x", nil), ("Path=/x; Path=/", "a"), ("HttpOnly", nil),
      ("Path=", "a"), ("Path=/x; Path=", "a"),
    ]
    for (attributes, path) in cases {
      let cookie = SetCookie("__Host-a=1; Secure; \(attributes)", from: try url("https://h.com/"), at: now)?.cookie
      XCTAssertEqual(cookie?.path, path.map { _ in "/" }, attributes)
    }
  }

  /// RFC 6265bis §5.6, step 1: a control character anywhere refuses the field, except a tab.
  func test_aTabIsPartOfACookie_otherControlCharactersRefuseIt() throws {
    let cases: [(String, String?)] = [
      ("a=b\tc", "a=b\tc"), ("a=\tb\t", "a=b"), ("\ta\t=b", "a=b"), ("a\tx=b", "a\tx=b"), ("a=\"b\tc\"", "a=\"b\tc\""),
      ("a=b;\tPath\t=\t/", "a=b"), ("a=\t", "a="), ("a=b\u{1}c", nil), ("a=b\u{B}", nil), ("a=b\u{7F}", nil),
      ("a=b\nc", nil), ("a=b\rc", nil), ("a=b\u{0}", nil), ("a=b; Path=/\u{1F}", nil), ("a=b; X\u{8}=y", nil),
    ]
    for (field, expected) in cases {
      XCTAssertEqual(try header([field], from: "http://h/", to: "http://h/"), expected, field.debugDescription)
    }
  }

  /// A response and a request within the machine need no TLS for `Secure` cookies, as in browsers and curl.
  func test_secureCookiesOfLoopbackNeedNoTLS() throws {
    let cases: [(String, String?)] = [
      ("http://localhost/", "a=1"), ("http://LOCALHOST:8080/", "a=1"), ("http://localhost./", "a=1"),
      ("http://127.0.0.1/", "a=1"), ("http://127.0.0.1:81/", "a=1"), ("http://127.1.2.3/", "a=1"),
      ("http://[::1]/", "a=1"), ("http://[::1]:81/", "a=1"), ("https://localhost/", "a=1"),
      ("http://localhost.com/", nil), ("http://x.localhost/", nil), ("http://127.0.0.1.com/", nil),
      ("http://127.evil.0.1/", nil), ("http://128.0.0.1/", nil), ("http://10.0.0.1/", nil), ("http://[::2]/", nil),
      ("http://[::ffff:127.0.0.1]/", nil), ("http://h/", nil),
    ]
    for (text, expected) in cases {
      XCTAssertEqual(try header(["a=1; Secure"], from: text, to: text), expected, text)
    }
    XCTAssertEqual(try header(["a=1; Secure"], from: "https://localhost/", to: "http://localhost:8080/"), "a=1")
    XCTAssertEqual(try header(["a=1; Secure", "a=2"], from: "http://localhost/", to: "http://localhost/"), "a=2")
    XCTAssertEqual(
      try header(["__Host-a=1; Secure; Path=/"], from: "http://localhost/", to: "http://localhost/"), "__Host-a=1")
  }

  func test_cookiesExpire() throws {
    XCTAssertEqual(try header(["a=1; Max-Age=10"], from: "http://h/", to: "http://h/", later: 9), "a=1")
    XCTAssertNil(try header(["a=1; Max-Age=10"], from: "http://h/", to: "http://h/", later: 10))
    XCTAssertNil(try header(["a=1", "a=1; Max-Age=0"], from: "http://h/", to: "http://h/"))
    XCTAssertNil(try header(["a=1", "a=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], from: "http://h/", to: "http://h/"))
    let both = "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10"
    XCTAssertEqual(try header([both], from: "http://h/", to: "http://h/"), "a=1")
  }

  func test_theLastCookieOfANameAppliesAndLongerPathsComeFirst() throws {
    let fields = ["a=1", "b=2; Path=/x", "a=3", "c=4; Path=/x/y"]
    XCTAssertEqual(try header(fields, from: "http://h/", to: "http://h/x/y"), "c=4; b=2; a=3")
  }

  func test_aResponseWithoutTLSDoesNotOverwriteSecureCookies() throws {
    for attack in ["a=2", "a=; Max-Age=0", "a=2; Path=/x/y", "a=2; Domain=h.com"] {
      let jar = CookieJar()
      jar.store(["Set-Cookie": "a=1; Secure; Path=/x"], from: try url("https://www.h.com/"), at: now)
      for path in ["", "x", "x/y/z"] {
        jar.store(["Set-Cookie": attack], from: try url("http://www.h.com/x/y"), at: now)
        jar.store(["Set-Cookie": attack + "; Path=/x/\(path)"], from: try url("http://www.h.com/x/y"), at: now)
      }
      XCTAssertEqual(jar.header(for: try url("https://www.h.com/x/y"), at: now), "a=1", attack)
      jar.store(["Set-Cookie": "a=3; Secure; Path=/x"], from: try url("https://www.h.com/"), at: now)
      XCTAssertEqual(jar.header(for: try url("https://www.h.com/x/y"), at: now), "a=3")
    }
    let jar = CookieJar()
    jar.store(["Set-Cookie": "a=1; Secure; Path=/x"], from: try url("https://h/"), at: now)
    jar.store(["Set-Cookie": "a=2; Path=/"], from: try url("http://h/"), at: now)
    XCTAssertEqual(jar.header(for: try url("http://h/y"), at: now), "a=2")
  }

  func test_aCombiningMarkBehindADelimiterDoesNotHideIt() throws {
    XCTAssertEqual(try header(["a=\u{301}b;\u{301}c=d"], from: "http://h/", to: "http://h/"), "a=\u{301}b")
  }

  func test_aCookieHasASizeLimit() throws {
    let value = String(repeating: "v", count: 4095)
    XCTAssertEqual(try header(["a=" + value], from: "http://h/", to: "http://h/"), "a=" + value)
    XCTAssertNil(try header(["a=v" + value], from: "http://h/", to: "http://h/"))
    let path = "a=1; Path=/" + String(repeating: "p", count: 1024)
    XCTAssertEqual(try header([path], from: "http://h/", to: "http://h/"), "a=1")
  }

  func test_datesAreParsedInAllCommonFormats() {
    let expected = Date(timeIntervalSince1970: 784_111_777)
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "06 Nov 1994 08:49:37",
    ] {
      XCTAssertEqual(CookieDate.parse(text), expected, text)
    }
    for text in [
      "", "tomorrow", "Sun, 06 Nov 1994", "06 Foo 1994 08:49:37", "32 Nov 1994 08:49:37", "06 Nov 1994 25:49:37",
    ] {
      XCTAssertNil(CookieDate.parse(text), text)
    }
  }

  func test_removeAllRemovesAllCookies() throws {
    let jar = CookieJar()
    jar.store(["Set-Cookie": "a=1"], from: try url("http://h/"))
    XCTAssertEqual(jar.cookies.map(\.name), ["a"])
    jar.removeAll()
    XCTAssertNil(jar.header(for: try url("http://h/")))
  }

  func test_aRequestHasAtMost16KBOfCookies() throws {
    let value = String(repeating: "v", count: 4000)
    let fields = (1...6).map { "c\($0)=\(value); Path=/\(String(repeating: "p/", count: $0 == 6 ? 1 : 0))" }
    let header = try XCTUnwrap(header(fields, from: "http://h/", to: "http://h/p/"))
    XCTAssertEqual(header, ["c6", "c1", "c2", "c3"].map { "\($0)=\(value)" }.joined(separator: "; "))
  }

  func test_atMost3000CookiesAreStored_andThoseNotSentForTheLongestTimeAreRemoved() throws {
    let jar = CookieJar()
    func store(_ domain: Int, _ count: Int, _ attributes: String = "") throws {
      for index in 0..<count {
        jar.store(["Set-Cookie": "c\(index)=1\(attributes)"], from: try url("http://h\(domain)/"), at: now)
      }
    }
    for domain in 0..<30 { try store(domain, 100) }
    XCTAssertNotNil(jar.header(for: try url("http://h0/"), at: now))
    try store(30, 100)
    XCTAssertEqual(jar.cookies.count, 2799)
    let domains = Set(jar.cookies.map(\.domain))
    XCTAssertEqual(domains, Set((0...30).map { "h\($0)" }).subtracting(["h1", "h2", "h3"]))
    try store(31, 100, "; Max-Age=10")
    try store(32, 100, "; Max-Age=10")
    jar.store(["Set-Cookie": "a=1"], from: try url("http://h33/"), at: now)
    jar.store(["Set-Cookie": "a=1"], from: try url("http://h34/"), at: now + 10)
    XCTAssertEqual(jar.cookies.count, 2700)
    XCTAssertTrue(jar.cookies.allSatisfy { $0.expiresAt == nil }, "expired cookies are removed first")
    XCTAssertTrue(jar.cookies.contains { $0.domain == "h6" })
  }

  func test_aSiteWithManyDomainsRemovesOnlyItsOwnCookies() throws {
    let jar = CookieJar()
    jar.store(["Set-Cookie": "mine=1"], from: try url("http://other.test/"), at: now)
    let labels = (0..<31).map { "l\($0)" } + ["attacker", "test"]
    for depth in 0..<31 {
      let host = labels[depth...].joined(separator: ".")
      for index in 0..<100 { jar.store(["Set-Cookie": "c\(index)=1"], from: try url("http://\(host)/"), at: now) }
    }
    XCTAssertEqual(jar.cookies.count, 2800)
    XCTAssertEqual(jar.header(for: try url("http://other.test/"), at: now), "mine=1")
  }

  func test_aHostThatEndsInANumberIsAnAddress() throws {
    XCTAssertNil(try header(["a=b; Domain=0.0.1"], from: "http://0x7f.0.0.1/", to: "http://10.0.0.1/"))
    XCTAssertNil(try header(["a=b; Domain=b.0x1"], from: "http://a.b.0x1/", to: "http://c.b.0x1/"))
  }

  func test_aMaxAgeOfAnySizeCounts() throws {
    XCTAssertNil(try header(["a=b; Max-Age=-9223372036854775809"], from: "http://h/", to: "http://h/"))
    XCTAssertEqual(try header(["a=b; Max-Age=9223372036854775808"], from: "http://h/", to: "http://h/"), "a=b")
    XCTAssertNil(try header(["a=b; Max-Age=9; Max-Age=+1; Max-Age=0"], from: "http://h/", to: "http://h/"))
  }

  func test_aDomainKeepsAtMost100Cookies() throws {
    let jar = CookieJar()
    for index in 0..<150 { jar.store(["Set-Cookie": "c\(index)=1"], from: try url("http://h/")) }
    XCTAssertEqual(jar.cookies.count, 100)
    XCTAssertEqual(jar.cookies.first?.name, "c50")
  }

  func test_cookiesArePutInAndTakenOutSingly() throws {
    let jar = CookieJar()
    let url = try XCTUnwrap(URL(string: "https://api.h.com/a/b"))
    let cookie = CookieJar.Cookie(name: "sid", value: "1", domain: "H.com", isForSubdomains: true, path: "/a")
    try jar.insert(cookie)
    try jar.insert(.init(name: "theme", value: "dark", domain: "api.h.com"))
    XCTAssertEqual(jar.header(for: url), "sid=1; theme=dark")
    try jar.insert(.init(name: "sid", value: "2", domain: "h.com", isForSubdomains: true, path: "/a"))
    XCTAssertEqual(jar.header(for: url), "sid=2; theme=dark")
    jar.remove(.init(name: "sid", value: "", domain: "h.com", isForSubdomains: true))
    XCTAssertEqual(jar.header(for: url), "sid=2; theme=dark", "another path")
    jar.remove(cookie)
    XCTAssertEqual(jar.header(for: url), "theme=dark")
    try jar.insert(.init(name: "theme", value: "", domain: "api.h.com", expiresAt: .distantPast))
    XCTAssertNil(jar.header(for: url))
    let bad: [CookieJar.Cookie] = [
      .init(name: "", value: "1", domain: "h.com"), .init(name: "a=b", value: "1", domain: "h.com"),
      .init(name: "a;b", value: "1", domain: "h.com"), .init(name: "a", value: "1; sid=3", domain: "h.com"),
      .init(name: "a", value: "1\r\nX: y", domain: "h.com"), .init(name: "a", value: "1", domain: ""),
      .init(name: "a", value: "1", domain: ".h.com"), .init(name: "a", value: "1", domain: "h.com", path: "a"),
    ]
    for cookie in bad {
      XCTAssertThrowsError(try jar.insert(cookie), "\(cookie)") { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      }
    }
    XCTAssertEqual(jar.cookies, [])
  }
}
