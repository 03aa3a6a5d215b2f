import HTTPTransport
import NetLayer
import XCTest

final class URLConvertibleTests: XCTestCase {
  private func url(_ path: String, below base: String?) throws -> String {
    try path.url(below: base.flatMap { URL(string: $0) }).absoluteString
  }

  private func reason(_ work: () throws -> some Any, file: StaticString = #filePath, line: UInt = #line) -> String {
    do {
      _ = try work()
      XCTFail("no error", file: file, line: line)
      return ""
    } catch {
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest, file: file, line: line)
      return (error as? NetworkError)?.reason ?? ""
    }
  }

  func test_row_4_2_basePath_isKept_andJoinedWithOneSlash() throws {
    for base in ["https://h/v3", "https://h/v3/", "https://h/v3//"] {
      for path in ["movies", "/movies", "//movies"] {
        XCTAssertEqual(try url(path, below: base), "https://h/v3/movies")
      }
    }
    XCTAssertEqual(try url("movies/", below: "https://h"), "https://h/movies/")
    XCTAssertEqual(try url("", below: "https://h/v3"), "https://h/v3")
    XCTAssertEqual(try url("users:list", below: "https://h:81/v3?key=1#f"), "https://h:81/v3/users:list?key=1")
  }

  func test_absoluteURL_isUsedUnchanged() throws {
    XCTAssertEqual(try url("https://other/a?b=c", below: "https://h/v3"), "https://other/a?b=c")
    XCTAssertEqual(try url("HTTP://other/a", below: nil), "HTTP://other/a")
    let absolute = try XCTUnwrap(URL(string: "https://h/a/../b"))
    XCTAssertEqual(try absolute.url(below: nil), absolute)
  }

  func test_row_3_18_userInput_isEscapedAsOneComponent() throws {
    XCTAssertEqual("a/b?c#d e\r\n%é".urlEscaped, "a%2Fb%3Fc%23d%20e%0D%0A%25%C3%A9")
    XCTAssertEqual(
      try url("users/\("a/b ü".urlEscaped)/repos", below: "https://h"), "https://h/users/a%2Fb%20%C3%BC/repos")
  }

  func test_pathWithTraversalOrInjection_isRejectedWithItsName() {
    for path in [
      "../admin", "a/../b", "a/..", "%2e%2E/x", ".%2e", "a\\..\\b", "..%2F..%2Fadmin", "a%5c..%5Cb", "../\u{301}x",
      "x?y=1#z", "x?y=1\n", "x#y", "x\r\nHost: evil", "x\u{0}",
    ] {
      XCTAssertTrue(
        reason { try url(path, below: "https://h/v3") }.contains(path.debugDescription), path)
    }
    XCTAssertTrue(reason { try url("https://h/a/../b", below: nil) }.contains("'..'"))
    XCTAssertEqual(try url("a/..b/c..", below: "https://h"), "https://h/a/..b/c..")
  }

  func test_invalidCharacters_areEncodedOnce_andEscapesAreKept() throws {
    XCTAssertEqual(try url("a b/%2F/100%/网", below: "https://h"), "https://h/a%20b/%2F/100%25/%E7%BD%91")
  }

  func test_onlyHTTPURLsWithAHost_areAccepted() {
    XCTAssertTrue(reason { try url("file:///etc/passwd", below: "https://h") }.contains("file:///etc/passwd"))
    XCTAssertTrue(reason { try url("/a", below: nil) }.contains("no base URL"))
    XCTAssertTrue(reason { try url("/a", below: "ftp://h") }.contains("ftp://h"))
    for text in ["http:///a", "http://", "http://:80/", "http://user@/"] {
      XCTAssertTrue(reason { try url(text, below: nil) }.contains("no host"), text)
    }
  }

  func test_absoluteURLWithBlanks_isTrimmed_andNotAppendedToTheBase() throws {
    for text in [" http://other/a", "http://other/a \t", "\r\n\u{C}http://other/a\n"] {
      XCTAssertEqual(try url(text, below: "https://h"), "http://other/a", text)
    }
    for text in ["http:/other/a", "http:other", "HTTPS:", " https:other/a", "http:\\\\other/a", "http:"] {
      XCTAssertTrue(reason { try url(text, below: "https://h") }.contains("two slashes"), text)
    }
    XCTAssertEqual(try url("https/x", below: "https://h"), "https://h/https/x")
  }

  func test_singleDotComponents_areRemoved() throws {
    for (path, expected) in [
      ("./a", "a"), ("a/./b", "a/b"), ("a/%2e/b", "a/b"), ("a/%2E", "a/"), ("a/.", "a/"), (".", ""), ("/././a", "a"),
      ("a/.b/c.", "a/.b/c."), ("a/...", "a/..."), ("a//b", "a//b"),
    ] { XCTAssertEqual(try url(path, below: "https://h/v3"), "https://h/v3/" + expected, path) }
    XCTAssertEqual(try url("http://h/a/./b/.?x=./#/./", below: nil), "http://h/a/b/?x=./#/./")
    XCTAssertEqual(try url("http://h?x=/./", below: nil), "http://h?x=/./")
  }

  func test_invalidHostOrPort_isRejected() throws {
    let label = String(repeating: "a", count: 63)
    let long = Array(repeating: label, count: 4).joined(separator: ".")
    for authority in [
      "h:0", "h:65536", "h:99999", "h:80a", "h:-1", "h:+80", "h:123456789012345678901", "h:8:80", "[::1]80", "[::1]:0",
      "*example.com", ".example.com", "a..b", "%20", "a%2Fb", "a%00b", "a%", "a%5Cb", "[::g]", "[]", "[::1", "[::1%25]",
      "a\\b", "a\\@b", "fe80::1", "a b", "a<b", "a{b}", "a|b", "a^b", "\(label)a", long, ".",
    ] {
      for path in ["", "/", "/x", "?y", "#z"] {
        _ = reason { try url("http://\(authority)\(path)", below: nil) }
      }
      // Foundation escapes a backslash, so that it becomes part of the user name.
      guard !authority.contains("@"), let given = URL(string: "http://\(authority)/") else { continue }
      _ = reason { try given.url(below: nil) }
    }
  }

  func test_validHostsAndPorts_areAccepted() throws {
    for authority in [
      "h", "h:1", "h:65535", "h:00080", "h:", "a.b.", "a_b", "a-b.c", "127.0.0.1", "[::1]", "[::1]:80",
      "[::FFFF:1.2.3.4]",
      "[fe80::1%25eth0]:8080", "user:p%40ss@h:80", "u%5Cv@h", "h%6Fst", String(repeating: "a", count: 63),
    ] {
      XCTAssertEqual(try url("http://\(authority)/x", below: nil), "http://\(authority)/x")
      XCTAssertEqual(try url("x", below: "http://\(authority)/"), "http://\(authority)/x")
    }
    XCTAssertEqual(try url("http://\u{2603}.net/", below: nil), "http://xn--n3h.net/")
  }
}
