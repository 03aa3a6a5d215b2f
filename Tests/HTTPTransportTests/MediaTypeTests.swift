import HTTPTransport
import NetLayer
import XCTest

final class MediaTypeTests: XCTestCase {
  func test_parametersAreSplitAtSemicolonsOutsideQuotes() {
    for (text, charset) in [
      ("text/plain", nil), ("text/plain;charset=utf-8", "utf-8"), ("text/plain ; a=b ;  Charset = UTF-8 ", "UTF-8"),
      ("text/plain;a=\";charset=us-ascii\";charset=\"utf-8\"", "utf-8"), ("charset=utf-8", nil),
      ("text/plain;a=\"\\\";charset=x\";charset=y", "y"), ("text/plain;charset=\"a\\\"b\"", "a\"b"),
      ("text/plain; charset=a; charset=b", "a"), ("text/plain;charset", ""), ("text/plain;charset=", ""),
      ("text/plain;;charset=a=b;", "a=b"), ("text/plain;xcharset=a", nil), ("", nil),
      ("text/plain;charset=\"utf-8", "utf-8"),
    ] { XCTAssertEqual(MediaType(text).parameter("charset"), charset, text) }
    XCTAssertEqual(MediaType("a/b; c=\"d;e\" ;f").parts, ["a/b", "c=\"d;e\"", "f"])
  }
}
