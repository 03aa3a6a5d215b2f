import HTTPTransport
import NetLayer
import TestSupport
import XCTest

final class URLParameterEncoderTests: XCTestCase {
  private struct Query: Encodable {
    var page: Int
    var tag: String?
    var inner: Inner?
    struct Inner: Encodable { var on: Bool }
  }

  private func text(_ parameters: Parameters, _ encoder: URLParameterEncoder = .url) throws -> String {
    try encoder.text(of: parameters)
  }

  func test_row_0_7_parametersOfAGet_areAppendedToTheQuery() throws {
    var request = Request(url: try XCTUnwrap(URL(string: "http://h/a?x=1#f")))
    try URLParameterEncoder.url.encode(["b": 2, "a": "c d"], into: &request)
    XCTAssertEqual(request.url.absoluteString, "http://h/a?x=1&a=c%20d&b=2#f")
    XCTAssertNil(request.headers["Content-Type"])
  }

  func test_row_0_7_everyQueryIsContinuedWithOneSeparator() throws {
    let expected = [
      "http://h": "http://h?b=2", "http://h/a?": "http://h/a?b=2", "http://h/a?x=1&": "http://h/a?x=1&b=2",
      "http://h/a?x=1?": "http://h/a?x=1?&b=2",
      "http://h/a?#f": "http://h/a?b=2#f", "http://h/a#f?": "http://h/a?b=2#f?",
    ]
    for (start, end) in expected {
      var request = Request(url: try XCTUnwrap(URL(string: start)))
      try URLParameterEncoder.url.encode(["b": 2], into: &request)
      XCTAssertEqual(request.url.absoluteString, end, start)
    }
  }

  func test_row_0_8_parametersOfAPost_becomeAForm() throws {
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/a?x=1")))
    try URLParameterEncoder.url.encode(["a": 1], into: &request)
    XCTAssertEqual(request.url.absoluteString, "http://h/a?x=1")
    guard case .data(let body) = request.body else { return XCTFail("no body") }
    XCTAssertEqual(String(decoding: body, as: UTF8.self), "a=1")
    XCTAssertEqual(request.headers["Content-Type"], "application/x-www-form-urlencoded; charset=utf-8")
  }

  func test_row_2_9_reservedCharacters_areEncoded_andAContentTypeIsKept() throws {
    XCTAssertEqual(
      try text(["q": "a+b c&d=e;f/?é~-._", "k[]&": "x"]),
      "k%5B%5D%26=x&q=a%2Bb%20c%26d%3De%3Bf/?%C3%A9~-._")
    XCTAssertEqual(try text(["email": "malcolm@network.com"]), "email=malcolm%40network.com")
    var request = Request(
      method: .post, url: try XCTUnwrap(URL(string: "http://h")), headers: ["content-type": "text/x"])
    try URLParameterEncoder.url.encode(["a": 1], into: &request)
    XCTAssertEqual(request.headers["Content-Type"], "text/x")
  }

  func test_nil_dropsItsKey_andAnEmptyQueryHasNoQuestionMark() throws {
    let cursor: String? = nil
    var request = Request(url: try XCTUnwrap(URL(string: "http://h/a")))
    try URLParameterEncoder.url.encode(["cursor": cursor, "x": nil], into: &request)
    XCTAssertEqual(request.url.absoluteString, "http://h/a")
    XCTAssertTrue((["cursor": cursor] as Parameters).isEmpty)
    let some: String? = "c"
    XCTAssertEqual(try text(["cursor": some]), "cursor=c")
  }

  func test_nestedValues_areSortedAtEveryLevel_andUseBrackets() throws {
    let parameters: Parameters = [
      "z": 1, "ids": [3, 1], "user": ["name": "n", "age": 3, "tags": ["x"]] as Parameters, "b": true, "f": 1.0,
      "big": UInt64.max, "list": [["k": 1]],
    ]
    XCTAssertEqual(
      try text(parameters),
      "b=1&big=18446744073709551615&f=1.0&ids%5B%5D=3&ids%5B%5D=1&list%5B%5D%5Bk%5D=1"
        + "&user%5Bage%5D=3&user%5Bname%5D=n&user%5Btags%5D%5B%5D=x&z=1")
  }

  func test_styles_areOptions() throws {
    let parameters: Parameters = ["a": [true, false], "o": ["myURLPath": "x y"] as Parameters]
    XCTAssertEqual(
      try text(
        parameters, .init(arrays: .repeated, objects: .dots, bools: .literal, keys: .snakeCase, spaces: .plus)),
      "a=true&a=false&o.my_url_path=x+y")
    XCTAssertEqual(try text(["a": [1, 2]], .init(arrays: .indexed)), "a%5B0%5D=1&a%5B1%5D=2")
    XCTAssertEqual(try text(["a": [1]], .init(arrays: .custom { "\($0)_\($1)" })), "a_0=1")
  }

  func test_datesDataDecimalsAndURLs_haveOneText() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    XCTAssertEqual(try text(["d": date]), "d=1.5")
    XCTAssertEqual(try text(["d": date], .init(dates: .iso8601)), "d=2001-01-01T00%3A00%3A01.500Z")
    XCTAssertEqual(try text(["d": date], .init(dates: .secondsSince1970)), "d=978307201.5")
    XCTAssertEqual(try text(["d": Data([1, 2, 255])]), "d=AQL/")
    XCTAssertEqual(try text(["d": Decimal(string: "12.50")]), "d=12.5")
    XCTAssertEqual(try text(["u": URL(string: "http://h/?a=b")]), "u=http%3A//h/?a%3Db")
  }

  func test_anyEncodableValue_isAccepted() throws {
    XCTAssertEqual(
      try text(Parameters(Query(page: 1, tag: nil, inner: .init(on: true)))), "inner%5Bon%5D=1&page=1")
    XCTAssertEqual(try text(Parameters(["b": 1, "a": 2])), "a=2&b=1")
  }

  func test_valueWithoutText_isAnErrorWithItsPath() {
    XCTAssertThrowsError(try text(["a": ["b": Double.nan] as Parameters])) { error in
      let error = error as? NetworkError
      XCTAssertEqual(error?.kind, .encoding)
      XCTAssertEqual(error?.code, -1214)
      XCTAssertEqual(error?.codingPath, ["a", "b"])
      XCTAssertTrue(error?.underlying is EncodingError)
    }
    XCTAssertThrowsError(try text(["a": Decimal.nan])) { XCTAssertEqual(($0 as? NetworkError)?.codingPath, ["a"]) }
    XCTAssertThrowsError(try text(Parameters([1, 2]))) { XCTAssertEqual(($0 as? NetworkError)?.kind, .encoding) }
  }

  func test_row_0_2_parametersOfTheCaller_overrideCommonOnes() throws {
    let common: Parameters = ["token": "common", "v": 1, "gone": "x"]
    let own: Parameters = ["token": "own", "gone": nil, "page": 2]
    XCTAssertEqual(try text(own.over(common)), "page=2&token=own&v=1")
    XCTAssertEqual(try text(Parameters(["token": "value"]).over(common)), "gone=x&token=value&v=1")
  }

  func test_equalEncodedNames_areBothSentInStableOrder() throws {
    for _ in 0..<20 {
      XCTAssertEqual(try text(["foo_bar": 2, "fooBar": 1, "b": 0], .init(keys: .snakeCase)), "b=0&foo_bar=1&foo_bar=2")
    }
    XCTAssertEqual(try text(["b": 1, "a": 2], .init(keys: .custom { $0 == "b" ? "A" : "z" })), "A=1&z=2")
  }

  func test_nils_canBeSent() throws {
    struct All: Encodable {
      var bool: Bool?
      var int: Int?
      var text: String?
      var date: Date?
      var list: [Int?]
    }
    let literal: Parameters = ["x": nil, "a": [1, nil, 3], "o": ["n": nil] as Parameters]
    XCTAssertEqual(try text(literal), "a%5B%5D=1&a%5B%5D=3")
    XCTAssertEqual(try text(literal, .init(nils: .empty)), "a%5B%5D=1&a%5B%5D=&a%5B%5D=3&o%5Bn%5D=&x=")
    XCTAssertEqual(try text(["x": nil], .init(nils: .null)), "x=null")
    let all = Parameters(All(list: [nil]))
    XCTAssertEqual(try text(all), "")
    XCTAssertEqual(try text(all, .init(nils: .null)), "bool=null&date=null&int=null&list%5B%5D=null&text=null")
    XCTAssertEqual(try text([:], .init(nils: .null)), "")
  }

  func test_nil_leavesNoGapInIndices() throws {
    XCTAssertEqual(try text(["a": [1, nil, 3]], .init(arrays: .indexed)), "a%5B0%5D=1&a%5B1%5D=3")
    XCTAssertEqual(
      try text(["a": [1, nil, 3]], .init(arrays: .indexed, nils: .empty)), "a%5B0%5D=1&a%5B1%5D=&a%5B2%5D=3")
    XCTAssertEqual(try text(["a": [nil, 2]], .init(arrays: .custom { "\($0)\($1)" })), "a0=2")
  }

  func test_unescapedCharacters_areAnOption() throws {
    XCTAssertEqual(try text(["q": "/?"]), "q=/?")
    XCTAssertEqual(try text(["q": "/?"], .init(unescaped: "")), "q=%2F%3F")
    XCTAssertEqual(try text(["a[]": "1:2+,!"], .init(unescaped: "[]:,")), "a[]=1:2%2B,%21")
    XCTAssertEqual(try text(["a=&": " #%é\u{7F}"], .init(unescaped: "&=#% é\u{7F}")), "a%3D%26=%20%23%25%C3%A9%7F")
  }

  func test_unescapedCharacters_thatAURLCanNotContain_areEscapedOnceInAQuery() throws {
    for character in "[]{}|\\^<>\"`" {
      let encoder = URLParameterEncoder(destination: .query, unescaped: "\(character)")
      var request = Request(url: try XCTUnwrap(URL(string: "http://h/?own=%26&b=%C3%BC")))
      try encoder.encode(["f": "a&b ü50%\(character)"], into: &request)
      let escape = "%" + String(character.asciiValue ?? 0, radix: 16, uppercase: true)
      XCTAssertEqual(
        request.url.absoluteString, "http://h/?own=%26&b=%C3%BC&f=a%26b%20%C3%BC50%25\(escape)", "\(character)")
      XCTAssertEqual(try text(["f": "a&\(character)"], .init(unescaped: "\(character)")), "f=a%26\(character)")
    }
    var request = Request(url: try XCTUnwrap(URL(string: "http://h/?y=%26")))
    try URLParameterEncoder(destination: .query, unescaped: "[]").encode(["ids": ["a&b", "ü"]], into: &request)
    XCTAssertEqual(request.url.absoluteString, "http://h/?y=%26&ids%5B%5D=a%26b&ids%5B%5D=%C3%BC")
  }

  func test_namesThatOnlyStringHoldsEqual_areBothSent() throws {
    let names = ["\u{E9}", "e\u{301}"]
    var parameters: Parameters = [:]
    for (index, name) in names.enumerated() { parameters[name] = index }
    XCTAssertEqual(parameters[names[0]] as? Int, 0)
    XCTAssertEqual(try text(parameters), "e%CC%81=1&%C3%A9=0")
    XCTAssertEqual(try text(["\u{E9}": 0, "e\u{301}": 1]), "e%CC%81=1&%C3%A9=0")
    XCTAssertEqual(try text((["\u{E9}": 0] as Parameters).over(["e\u{301}": 1])), "e%CC%81=1&%C3%A9=0")
    parameters[names[0]] = 2
    XCTAssertEqual(try text(parameters), "e%CC%81=1&%C3%A9=2")
  }

  func test_superEncoder_keepsTheMembersOfBothClassesInAForm() throws {
    class Parent: Encodable {
      let one = 1
      let list = [true]
    }
    final class Child: Parent {
      let two = 2
      enum Keys: CodingKey { case two }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(two, forKey: .two)
        try super.encode(to: container.superEncoder())
      }
    }
    struct Sent: Encodable, Sendable {
      func encode(to encoder: any Encoder) throws { try Child().encode(to: encoder) }
    }
    XCTAssertEqual(try text(Parameters(Sent())), "list%5B%5D=1&one=1&two=2")
    XCTAssertEqual(try text(["o": Sent()]), "o%5Blist%5D%5B%5D=1&o%5Bone%5D=1&o%5Btwo%5D=2")
  }
}
