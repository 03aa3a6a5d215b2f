import Foundation
import HTTPTransport
import XCTest

/// Tests of `Response.links` (RFC 8288).
final class LinkFieldTests: XCTestCase {
  private func links(_ values: String...) throws -> [String: String] {
    let url = try XCTUnwrap(URL(string: "http://h/a/b?c=1"))
    var headers = HTTPHeaders()
    for value in values { headers.append("Link", value) }
    return Response(request: Request(url: url), headers: headers).links.mapValues(\.absoluteString)
  }

  func test_relationsMapToTheirURLs() throws {
    XCTAssertEqual(
      try links(#"<http://h/?page=2>; rel="next", <http://h/?page=9>; rel="last""#),
      ["next": "http://h/?page=2", "last": "http://h/?page=9"])
    XCTAssertEqual(
      try links(#"<?page=2>;rel=next"#, #"</x>  ;  title="a, b; \"c\""  ; rel = "Prev Start" , <y> ; rel=last;x"#),
      ["next": "http://h/a/b?page=2", "prev": "http://h/x", "start": "http://h/x", "last": "http://h/a/y"])
  }

  func test_aCombiningMarkBehindASpaceDoesNotHideARelation() throws {
    XCTAssertEqual(try links("<a>; rel=\"next \u{301}x\"")["next"], "http://h/a/a")
  }

  func test_userAndPasswordOfALinkAreDropped() throws {
    XCTAssertEqual(
      try links("<http://u:p@g/x>; rel=next, <//u@h/y>; rel=last"), ["next": "http://g/x", "last": "http://h/y"])
  }

  func test_malformedLinksAndLinksOfOtherResourcesAreIgnored() throws {
    XCTAssertEqual(
      try links(#"<a>; rel=next; rel=last, <b>; rel=next, <c>, <d>; anchor="/z"; rel=up"#), ["next": "http://h/a/a"])
    for malformed in ["", "no link", "<a", "<a>; rel", #"<a>; rel=""#, ",,", ";rel=next", "<a>; rel=next <b"] {
      XCTAssertTrue(try links(malformed).keys.allSatisfy { $0 == "next" }, malformed)
    }
    XCTAssertEqual(try links("<a>;rel=next"), ["next": "http://h/a/a"])
    XCTAssertEqual(try links(), [:])
  }
}
