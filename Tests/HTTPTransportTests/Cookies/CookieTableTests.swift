import Foundation
import NetLayer
import Races
import XCTest

@testable import HTTPTransport

/// The limits of a jar: what one response, one domain and one site can do to the cookies of the others.
final class CookieTableTests: XCTestCase {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func url(_ text: String) throws -> URL { try XCTUnwrap(URL(string: text)) }

  /// Stores cookies from `urls`, one after another, each from a response of its own.
  private func store(_ count: Int, in jar: CookieJar, from url: (Int) -> String, _ field: (Int) -> String) throws {
    for index in 0..<count { jar.store(["Set-Cookie": field(index)], from: try self.url(url(index)), at: now) }
  }

  func test_atMost50FieldsOfAResponseCount() throws {
    let jar = CookieJar()
    let fields = (0..<490).map { HTTPHeaders.Field(name: "Set-Cookie", value: "c\($0)=1") }
    jar.store(HTTPHeaders(fields), from: try url("http://h/"), at: now)
    XCTAssertEqual(jar.cookies.map(\.name), (0..<50).map { "c\($0)" })
  }

  func test_roomIsMadeForManyCookiesAtOnce() throws {
    let jar = CookieJar()
    try store(3000, in: jar, from: { "https://h\($0).com/" }, { _ in "a=1" })
    XCTAssertEqual(jar.cookies.count, 3000)
    _ = jar.header(for: try url("https://h7.com/"), at: now)
    try store(1, in: jar, from: { _ in "https://one.more.org/" }, { _ in "a=1" })
    let kept = Set(jar.cookies.map(\.domain))
    XCTAssertEqual(kept, Set((301..<3000).map { "h\($0).com" } + ["h7.com", "one.more.org"]).subtracting(["h301.com"]))
    try store(299, in: jar, from: { "https://later\($0).org/" }, { _ in "a=1" })
    XCTAssertEqual(jar.cookies.count, 2999, "no search for each cookie")
  }

  func test_roomIsMadeOnceForAResponse() throws {
    let jar = CookieJar()
    try store(3000, in: jar, from: { "https://h\($0).com/" }, { _ in "a=1" })
    let fields = (0..<50).map { HTTPHeaders.Field(name: "Set-Cookie", value: "c\($0)=1") }
    jar.store(HTTPHeaders(fields), from: try url("https://new.com/"), at: now)
    XCTAssertEqual(jar.cookies.count, 2700)
    XCTAssertEqual(jar.cookies.filter { $0.domain == "new.com" }.count, 50)
  }

  func test_aNeighborBelowAPublicSuffixRemovesOnlyItsOwnCookies() throws {
    try XCTSkipUnless(PublicSuffix.isAvailable, "libpsl is not installed")
    for suffix in ["co.uk", "com", "github.io", "s3.amazonaws.com"] {
      let jar = CookieJar()
      try store(1, in: jar, from: { _ in "https://bank.\(suffix)/" }, { _ in "session=1; Secure" })
      try store(4000, in: jar, from: { "https://h\($0 / 100).evil.\(suffix)/" }, { "c\($0)=1" })
      XCTAssertEqual(jar.header(for: try url("https://bank.\(suffix)/"), at: now), "session=1", suffix)
    }
  }

  func test_anAddressIsASite() throws {
    for (neighbor, own) in [("10.0.0.9", "10.1.0.9"), ("[2001:db8::1]", "[2001:db8::2]")] {
      XCTAssertEqual(PublicSuffix.site(of: own), own)
      XCTAssertNotEqual(PublicSuffix.site(of: own), PublicSuffix.site(of: neighbor))
    }
  }

  func test_siteOfADomain() throws {
    try XCTSkipUnless(PublicSuffix.isAvailable, "libpsl is not installed")
    for (domain, site) in [
      ("a.b.example.com", "example.com"), ("example.com", "example.com"), ("com", "com"), ("a.b.co.uk", "b.co.uk"),
      ("co.uk", "co.uk"), ("github.io", "github.io"), ("x.me.github.io", "me.github.io"), ("localhost", "localhost"),
      ("a.b.internal", "b.internal"), ("www.ck", "www.ck"), ("a.b.c.ck", "b.c.ck"),
    ] {
      XCTAssertEqual(PublicSuffix.site(of: domain), site, domain)
    }
  }

  /// RFC 6265bis §5.7, step 13, word by word, for random cookies of one site.
  func test_secureCookiesAreProtected_asByTheirDefinition() throws {
    let domains = ["e.com", "a.e.com", "b.e.com", "c.a.e.com", "aa.e.com", "a-b.e.com", "d.c.a.e.com"]
    let paths = ["/", "/x", "/x/", "/xy", "/x/y", "/x/y/z"]
    func matches(_ host: String, _ domain: String) -> Bool { host == domain || host.hasSuffix("." + domain) }
    func pathMatches(_ path: String, _ prefix: String) -> Bool {
      path == prefix || path.hasPrefix(prefix.hasSuffix("/") ? prefix : prefix + "/")
    }
    var (random, refused) = (SplitMix64(seed: 7), 0)
    for round in 0..<2000 {
      var table = CookieTable()
      func cookie(isSecure: Bool) -> CookieJar.Cookie {
        CookieJar.Cookie(
          name: Bool.random(using: &random) ? "a" : "b", value: "1",
          domain: domains.randomElement(using: &random) ?? "",
          isForSubdomains: Bool.random(using: &random), path: paths.randomElement(using: &random) ?? "",
          isSecure: isSecure, expiresAt: Int.random(in: 0..<5, using: &random) == 0 ? now - 1 : nil)
      }
      for _ in 0..<Int.random(in: 0..<12, using: &random) {
        _ = table.put(cookie(isSecure: Int.random(in: 0..<4, using: &random) > 0), at: now)
      }
      let new = cookie(isSecure: false)
      let expected = table.cookies.contains { old in
        old.isSecure && old.name == new.name && pathMatches(new.path, old.path)
          && (matches(old.domain, new.domain) || matches(new.domain, old.domain))
      }
      XCTAssertEqual(table.protects(from: new), expected, "round \(round): \(new) after \(table.cookies)")
      XCTAssertEqual(table.count, table.cookies.count)
      if expected { refused += 1 }
    }
    XCTAssert((400..<1600).contains(refused), "\(refused)")
  }

  func test_secureCookiesOfARemovedDomainProtectNothing() throws {
    let jar = CookieJar()
    try store(1, in: jar, from: { _ in "https://e.com/" }, { _ in "a=1; Secure; Max-Age=5" })
    jar.store(["Set-Cookie": "a=2"], from: try url("http://e.com/"), at: now + 6)
    XCTAssertEqual(jar.cookies.map(\.value), ["1"], "an expired cookie protects until it is removed")
    _ = jar.header(for: try url("https://e.com/"), at: now + 6)
    jar.store(["Set-Cookie": "a=2"], from: try url("http://e.com/"), at: now + 6)
    XCTAssertEqual(jar.cookies.map(\.value), ["2"])
  }

  func test_veryManySecureCookiesOfOneName_protectWithoutAComparisonOfAll() throws {
    let jar = CookieJar()
    try store(201, in: jar, from: { "https://h\($0).e.com/" }, { "a=1; Secure; Path=/p\($0)" })
    jar.store(["Set-Cookie": "a=2; Path=/"], from: try url("http://e.com/"), at: now)
    XCTAssertNil(jar.header(for: try url("http://e.com/"), at: now))
    jar.store(["Set-Cookie": "b=2; Path=/"], from: try url("http://e.com/"), at: now)
    XCTAssertEqual(jar.header(for: try url("http://e.com/"), at: now), "b=2")
  }

  func test_anEqualCookieIsNotAChange() {
    var table = CookieTable()
    var cookie = CookieJar.Cookie(name: "a", value: "1", domain: "h.com")
    XCTAssertTrue(table.put(cookie, at: now))
    XCTAssertFalse(table.put(cookie, at: now))
    cookie.value = "2"
    XCTAssertTrue(table.put(cookie, at: now))
    cookie.expiresAt = now
    XCTAssertTrue(table.put(cookie, at: now))
    XCTAssertFalse(table.put(cookie, at: now), "there is nothing to remove")
  }
}
