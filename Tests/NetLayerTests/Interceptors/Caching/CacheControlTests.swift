import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class CacheControlTests: XCTestCase {
  private func control(_ text: String) -> CacheControl { CacheControl(["Cache-Control": text]) }

  func test_directives_areReadWithoutCase_withOrWithoutQuotes() {
    let control = control("Max-Age=60 , NO-CACHE,stale-if-error=\"30\", ext=\"a, no-store, b\"")
    XCTAssertEqual(control.seconds("max-age"), 60)
    XCTAssertEqual(control.seconds("stale-if-error"), 30)
    XCTAssertTrue(control.has("no-cache"))
    XCTAssertFalse(control.has("no-store"), "a comma in quotes ends no directive")
    XCTAssertNil(control.seconds("s-maxage"))
  }

  func test_severalFields_areOneList() {
    var headers: HTTPHeaders = ["Cache-Control": "private"]
    headers.append("cache-control", "max-age=1")
    let control = CacheControl(headers)
    XCTAssertTrue(control.has("private"))
    XCTAssertEqual(control.seconds("max-age"), 1)
  }

  func test_contradictingDirectives_firstOneApplies() {
    XCTAssertEqual(control("max-age=1, max-age=100").seconds("max-age"), 1)
  }

  func test_invalidSeconds_areStale() {
    for text in ["max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1.5", "max-age=\"\""] {
      XCTAssertEqual(control(text).seconds("max-age"), 0, text)
    }
    XCTAssertEqual(control("max-age=99999999999999999999999").seconds("max-age"), 2_147_483_648)
  }

  func test_maxStaleWithoutSeconds_acceptsAnyAge() {
    XCTAssertEqual(control("max-stale").maxStale, .infinity)
    XCTAssertEqual(control("max-stale=5").maxStale, 5)
    XCTAssertNil(control("max-age=5").maxStale)
  }

  func test_malformedText_isParsedWithoutTrap() {
    for text in ["", ",", ",,=,", "=5", "\"", "a=\"\\", "a=\"b\\\"c\", no-store"] { _ = control(text) }
    XCTAssertTrue(control("a=\"b\\\"c\", no-store").has("no-store"))
  }
}
