import XCTest

@testable import NetLayer

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

  func test_row_4_2_aBasePathIsNeverLostAndOneSlashJoins() throws {
    for base in ["https://h/v3", "https://h/v3/", "https://h/v3//"] {
      for path in ["movies", "/movies", "//movies"] {
        XCTAssertEqual(try url(path, below: base), "https://h/v3/movies")
      }
    }
    XCTAssertEqual(try url("movies/", below: "https://h"), "https://h/movies/")
    XCTAssertEqual(try url("", below: "https://h/v3"), "https://h/v3")
    XCTAssertEqual(try url("users:list", below: "https://h:81/v3?key=1#f"), "https://h:81/v3/users:list?key=1")
  }

  func test_anAbsoluteURLIsTakenAsItIs() throws {
    XCTAssertEqual(try url("https://other/a?b=c", below: "https://h/v3"), "https://other/a?b=c")
    XCTAssertEqual(try url("HTTP://other/a", below: nil), "HTTP://other/a")
    let absolute = try XCTUnwrap(URL(string: "https://h/a/../b"))
    XCTAssertEqual(try absolute.url(below: nil), absolute)
  }

  func test_row_3_18_whatComesFromUsersIsEscapedAsOneComponent() throws {
    XCTAssertEqual("a/b?c#d e\r\n%é".urlEscaped, "a%2Fb%3Fc%23d%20e%0D%0A%25%C3%A9")
    XCTAssertEqual(
      try url("users/\("a/b ü".urlEscaped)/repos", below: "https://h"), "https://h/users/a%2Fb%20%C3%BC/repos")
  }

  func test_aPathThatClimbsOrInjectsIsRefusedByName() {
    for path in [
      "../admin", "a/../b", "a/..", "%2e%2E/x", ".%2e", "a\\..\\b", "..%2F..%2Fadmin", "a%5c..%5Cb", "../\u{301}x",
      "x?y=1", "x#y", "x\r\nHost: evil", "x\u{0}",
    ] {
      XCTAssertTrue(
        reason { try url(path, below: "https://h/v3") }.contains(path.debugDescription), path)
    }
    XCTAssertTrue(reason { try url("https://h/a/../b", below: nil) }.contains("climbs"))
    XCTAssertEqual(try url("a/..b/c..", below: "https://h"), "https://h/a/..b/c..")
  }

  func test_charactersThatAURLDoesNotTakeAreEncodedOnceAndEscapesKept() throws {
    XCTAssertEqual(try url("a b/%2F/100%/网", below: "https://h"), "https://h/a%20b/%2F/100%25/%E7%BD%91")
  }

  func test_onlyHTTPWithAHostIsRequested() {
    XCTAssertTrue(reason { try url("file:///etc/passwd", below: "https://h") }.contains("file:///etc/passwd"))
    XCTAssertTrue(reason { try url("/a", below: nil) }.contains("no base URL"))
    XCTAssertTrue(reason { try url("/a", below: "ftp://h") }.contains("ftp://h"))
    XCTAssertTrue(reason { try url("http:///a", below: nil) }.contains("no host"))
  }
}
