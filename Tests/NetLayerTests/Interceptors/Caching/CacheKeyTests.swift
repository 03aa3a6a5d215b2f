import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class CacheKeyTests: XCTestCase {
  private func request(_ url: String, _ method: HTTPMethod = .get, body: String? = nil) -> Request {
    Request(method: method, url: URL(string: url)!, body: body.map { .data(Data($0.utf8)) } ?? .none)
  }

  private func key(_ url: String, account: String? = nil) -> String? { CacheKey(request(url), account: account)?.text }

  func test_parameters_haveAStableOrder() {
    XCTAssertEqual(key("http://h/a?b=2&a=1"), key("http://h/a?a=1&b=2"))
    XCTAssertNotEqual(key("http://h/a?a=1"), key("http://h/a?a=2"))
    XCTAssertNotEqual(key("http://h/a?a=1"), key("http://h/a"))
    XCTAssertNotEqual(key("http://h/a?x=1&x=2"), key("http://h/a?x=2&x=1"), "the order of equal names says something")
  }

  func test_key_ignoresFragmentsAndCaseOfSchemeAndHost() {
    XCTAssertEqual(key("HTTP://Host:80/A#x"), key("http://host:80/A"))
    XCTAssertNotEqual(key("http://h/A"), key("http://h/a"))
    XCTAssertNotEqual(key("http://Ada@h/"), key("http://ada@h/"))
  }

  func test_key_dependsOnMethodAccountAndBody() {
    XCTAssertNotEqual(key("http://h/"), CacheKey(request("http://h/", .head), account: nil)?.text)
    XCTAssertNotEqual(key("http://h/", account: "a"), key("http://h/", account: "b"))
    XCTAssertNotEqual(key("http://h/", account: ""), key("http://h/", account: nil))
    func post(_ body: String) -> String? {
      CacheKey(request("http://h/", .post, body: body), account: nil, hasBody: true)?.text
    }
    XCTAssertNotEqual(post("a"), post("b"))
    XCTAssertEqual(post("a"), post("a"))
    var file = request("http://h/", .post)
    file.body = .file(URL(filePath: "/x"))
    XCTAssertNil(CacheKey(file, account: nil, hasBody: true))
  }

  func test_key_separatesItsParts() {
    var first = CacheKey("")
    for part in ["a", "bc"] { first.append(part) }
    var second = CacheKey("")
    for part in ["ab", "c"] { second.append(part) }
    XCTAssertNotEqual(first.text, second.text)
    XCTAssertNotEqual(
      CacheKey(request("http://h/"), account: nil, own: "http://h/")?.text, key("http://h/"),
      "a key of one's own is never a URL")
  }
}
