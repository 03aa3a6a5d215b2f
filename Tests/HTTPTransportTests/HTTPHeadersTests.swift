import NetLayer
import XCTest

@testable import HTTPTransport

final class HTTPHeadersTests: XCTestCase {
  private func lines(_ headers: HTTPHeaders) -> [String] { headers.map { "\($0.name): \($0.value)" } }

  func test_whitespaceAroundAValueIsRemoved_butLineBreaksAreKept() {
    var headers: HTTPHeaders = ["A": " \t b c\t ", "B": "\r\nx\n ", "C": " \t ", "D": "é\t"]
    headers.append("E", " e ")
    headers["F"] = "\tf"
    XCTAssertEqual(lines(headers), ["A: b c", "B: \r\nx\n", "C: ", "D: é", "E: e", "F: f"])
    var field = HTTPHeaders.Field(name: "A", value: "a")
    field.value = " b "
    XCTAssertEqual(field.value, "b")
  }

  func test_namesOfADictionaryAreCaseInsensitive_andTheLastApplies() {
    XCTAssertEqual(lines(["Accept": "a", "X": "x", "accept": "b"]), ["accept: b", "X: x"])
    XCTAssertEqual(lines(HTTPHeaders(["Accept": "a", "accept": "b", "B": "c"])), ["accept: b", "B: c"])
  }

  func test_manyFieldsAreMergedLikeFewOnes() {
    let old = HTTPHeaders((0..<3000).map { .init(name: "A\($0)", value: "1") })
    let new = HTTPHeaders(
      (0..<6000).flatMap { number in
        [HTTPHeaders.Field(name: "a\(2 * number)", value: "2"), .init(name: "A\(2 * number)", value: "3")]
      })
    let merged = old.merging(new)
    XCTAssertEqual(merged.count, 1500 + 12_000)
    XCTAssertEqual(merged["A1"], "1")
    XCTAssertEqual(merged["A2"], "2, 3")
  }

  func test_fieldsAndAppendKeepDuplicates() {
    var headers = HTTPHeaders([.init(name: "A", value: "1"), .init(name: "a", value: "2")])
    headers.append("A", "3")
    XCTAssertEqual(headers.count, 3)
    XCTAssertEqual(headers["a"], "1, 2, 3")
    XCTAssertEqual(headers.values(of: "A"), ["1", "2", "3"])
    headers["a"] = nil
    XCTAssertTrue(headers.isEmpty)
    XCTAssertTrue(HTTPHeaders().isEmpty)
  }

  func test_authorizationValuesAreBuiltFromCredentials() {
    XCTAssertEqual(HTTPHeaders.basic(user: "test", password: "test"), ["Authorization": "Basic dGVzdDp0ZXN0"])
    XCTAssertEqual(HTTPHeaders.basic(user: "ü", password: "a:b"), ["Authorization": "Basic w7w6YTpi"])
    XCTAssertEqual(HTTPHeaders.bearer("abc"), ["Authorization": "Bearer abc"])
  }

  func test_equalityIsCaseSensitive() {
    XCTAssertEqual(["A": "1"] as HTTPHeaders, ["A": "1"])
    XCTAssertNotEqual(["A": "1"] as HTTPHeaders, ["a": "1"])
  }
}
