import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class JSONParameterEncoderTests: XCTestCase {
  private func encode(_ parameters: Parameters, _ encoder: JSONParameterEncoder = .json) throws -> (String, Request) {
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/a")))
    try encoder.encode(parameters, into: &request)
    guard case .data(let body) = request.body else { return ("", request) }
    return (String(decoding: body, as: UTF8.self), request)
  }

  func test_row_2_10_body_isSortedJSONWithItsContentType() throws {
    let (text, request) = try encode([
      "b": ["y": 1, "x": [true, false]] as Parameters, "a": 1.0, "s": "q\"\\/\n\u{1}é😀", "n": nil,
    ])
    XCTAssertEqual(text, #"{"a":1.0,"b":{"x":[true,false],"y":1},"s":"q\"\\/\n\u0001é😀"}"#)
    XCTAssertEqual(request.headers["Content-Type"], "application/json")
    XCTAssertNoThrow(try JSON(parsing: text))
  }

  func test_noParameters_areAnEmptyObject() throws {
    XCTAssertEqual(try encode([:]).0, "{}")
  }

  func test_arrayBody_movesCommonParametersToTheQuery() throws {
    XCTAssertEqual(try encode(Parameters([1, 2])).0, "[1,2]")
    let (text, request) = try encode(Parameters([1, 2]).over(["token": "t"]))
    XCTAssertEqual(text, "[1,2]")
    XCTAssertEqual(request.url.absoluteString, "http://h/a?token=t")
  }

  func test_commonParameters_areAddedToAnObject() throws {
    struct Body: Encodable {
      var token: String
      var page: Int
    }
    XCTAssertEqual(
      try encode(Parameters(Body(token: "own", page: 1)).over(["token": "t", "v": 2])).0,
      #"{"page":1,"token":"own","v":2}"#)
  }

  func test_nullsInArraysAndDates_areKept() throws {
    XCTAssertEqual(try encode(["a": [1, nil, 3]]).0, #"{"a":[1,null,3]}"#)
    XCTAssertEqual(
      try encode(["d": Date(timeIntervalSince1970: 0)], .init(dates: .iso8601)).0, #"{"d":"1970-01-01T00:00:00Z"}"#)
  }

  func test_superEncoder_keepsTheMembersOfBothClasses() throws {
    struct Child: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        try container.encode(1, forKey: ParameterKey("own"))
        var nested = container.nestedUnkeyedContainer(forKey: ParameterKey("list"))
        try nested.encode("a")
        try nested.encodeNil()
        var object = nested.nestedContainer(keyedBy: ParameterKey.self)
        try object.encode(2, forKey: ParameterKey("k"))
        try [3].encode(to: container.superEncoder())
      }
    }
    XCTAssertEqual(try encode(Parameters(Child())).0, #"{"list":["a",null,{"k":2}],"own":1,"super":[3]}"#)
  }

  func test_topLevelValue_usesTheOptionsOfTheEncoder() throws {
    XCTAssertEqual(try encode(Parameters(try XCTUnwrap(Decimal(string: "12.50")))).0, "12.5")
    XCTAssertEqual(try encode(Parameters(try XCTUnwrap(URL(string: "http://h/?a=b")))).0, #""http://h/?a=b""#)
    let date = Date(timeIntervalSince1970: 0)
    XCTAssertEqual(try encode(Parameters(date), .init(dates: .iso8601)).0, #""1970-01-01T00:00:00Z""#)
    XCTAssertEqual(try encode(Parameters(date), .init(dates: .secondsSince1970)).0, "0")
    XCTAssertEqual(try encode(Parameters(Data([1, 2, 255]))).0, #""AQL/""#)
    XCTAssertEqual(try encode(Parameters(Data([1, 2])), .init(data: .deferred)).0, "[1,2]")
    XCTAssertEqual(try encode(["d": Parameters(date)], .init(dates: .iso8601)).0, #"{"d":"1970-01-01T00:00:00Z"}"#)
    struct Wrapper: Encodable {
      let inner: Parameters
      func encode(to encoder: any Encoder) throws { try inner.encode(to: encoder) }
    }
    XCTAssertEqual(
      try encode(Parameters(Wrapper(inner: Parameters(date))), .init(dates: .iso8601)).0, #""1970-01-01T00:00:00Z""#)
    let (text, request) = try encode(Parameters(Data([1])).over(["a": 1]))
    XCTAssertEqual(text, #""AQ==""#)
    XCTAssertEqual(request.url.absoluteString, "http://h/a?a=1")
  }

  func test_valueThatEncodesNothing_isAnError() {
    struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
    XCTAssertThrowsError(try encode(Parameters(Nothing()))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
    }
  }

  func test_nonFiniteNumber_isAnErrorWithItsPath() {
    for value: any Sendable & Encodable in [Decimal.nan, Double.nan, Float.infinity] {
      XCTAssertThrowsError(try encode(["a": value])) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
        XCTAssertEqual((error as? NetworkError)?.codingPath, ["a"])
      }
    }
  }

  func test_errorOfANestedValue_hasItsPath() {
    struct Inner: Encodable { var values: [String: [Double?]] = ["k": [1, nil, .nan]] }
    XCTAssertThrowsError(try encode(["a": [Inner()]])) { error in
      XCTAssertEqual((error as? NetworkError)?.codingPath, ["a", "0", "values", "k", "2"])
    }
  }

  func test_equalEncodedNames_areAnErrorWithTheName() {
    XCTAssertThrowsError(try encode(["fooBar": 1, "foo_bar": 2], .init(keys: .snakeCase))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
      XCTAssertTrue((error as? NetworkError)?.reason.contains("foo_bar") == true)
    }
  }

  /// Containers that are asked for again share a member, and a later value replaces it.
  func test_namesThatOnlyStringHoldsEqual_areBothSent() throws {
    let value = try JSON(parsing: #"{"b":{"\#u{E9}":1,"e\#u{301}":2},"a":[{"\#u{E9}":3,"e\#u{301}":4}]}"#)
    let sent = #"{"a":[{"e\#u{301}":4,"\#u{E9}":3}],"b":{"e\#u{301}":2,"\#u{E9}":1}}"#
    XCTAssertEqual(Data(try JSONParameterEncoder().line(of: value).utf8), Data(sent.utf8))
    var parameters: Parameters = ["e\u{301}": 2]
    parameters["\u{E9}"] = 1
    XCTAssertEqual(
      Data(try JSONParameterEncoder().line(of: parameters).utf8), Data(#"{"e\#u{301}":2,"\#u{E9}":1}"#.utf8))
    // Also in an object with many members, whose last value of a name is sent.
    struct Names: Encodable {
      let names: [String]

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        for (index, name) in names.enumerated() { try container.encode(index, forKey: ParameterKey(name)) }
      }
    }
    let many = (0..<20).map { "a\($0)" }
    let names = many + ["\u{E9}", "e\u{301}", "\u{E9}", "e\u{301}"]
    let text = try JSONParameterEncoder().line(of: Parameters(Names(names: names)))
    XCTAssert(text.hasSuffix(#","e\#u{301}":23,"\#u{E9}":22}"#), text)
  }

  func test_aJSONValueWithTwoMembersOfOneName_isAnErrorWithItsPath() throws {
    for value in [
      try JSON(parsing: #"{"x":[{"a":3,"a":4}]}"#), ["x": [["a": 3, "a": 4] as JSON]],
      try JSON(parsing: #"{"x":[{"\u0061":3,"a":4}]}"#),
    ] as [JSON] {
      XCTAssertThrowsError(try JSONParameterEncoder().line(of: value)) { error in
        let error = error as? NetworkError
        XCTAssertEqual(error?.kind, .encoding)
        XCTAssertEqual(error?.codingPath, ["x", "0"])
        XCTAssert(error?.reason.contains("has two members of one name; remove one") == true, "\(error as Any)")
      }
    }
  }

  func test_membersThatAreWrittenTwice_areTheLast() throws {
    struct Twice: Encodable {
      var count: Int
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        for round in 0..<2 {
          for index in 0..<count {
            var nested = container.nestedContainer(keyedBy: ParameterKey.self, forKey: ParameterKey("n\(index)"))
            try nested.encode(index, forKey: ParameterKey("r\(round)"))
          }
        }
        try container.encode("first", forKey: ParameterKey("v"))
        try container.encode("last", forKey: ParameterKey("v"))
        var again = container.nestedContainer(keyedBy: ParameterKey.self, forKey: ParameterKey("n0"))
        try again.encode(7, forKey: ParameterKey("r0"))
      }
    }
    XCTAssertEqual(try encode(Parameters(Twice(count: 1))).0, #"{"n0":{"r0":7,"r1":0},"v":"last"}"#)
    let many = try JSON(parsing: encode(Parameters(Twice(count: 40))).0)
    XCTAssertEqual(many.members?.count, 41)
    for index in 1..<40 { XCTAssertEqual(many["n\(index)"].description, #"{"r0":\#(index),"r1":\#(index)}"#) }
    XCTAssertEqual(many["n0"].description, #"{"r0":7,"r1":0}"#)
  }

  func test_strings_areEscapedWhereJSONRequiresIt() throws {
    for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
      for text in ["\(scalar)", "a\(scalar)", "\(scalar)\(scalar)b", "é\(scalar)😀"] {
        let written = try encode(Parameters(text)).0
        XCTAssertEqual(try JSON(parsing: written).string, text)
        XCTAssertEqual(written, JSON.quoted(text))
        let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
        XCTAssertEqual(written == "\"\(text)\"", !mustEscape, written)
      }
    }
    XCTAssertEqual(
      JSON.quoted("\u{0}\u{8}\t\n\u{B}\u{C}\r\u{1F}\"\\/\u{7F}"), #""\u0000\b\t\n\u000b\f\r\u001f\"\\/"# + "\u{7F}\"")
  }

  func test_prettyPrinted_isTheSameJSONIndented() throws {
    XCTAssertEqual(
      try encode(["b": [1.0], "a": "x/y"], .init(prettyPrinted: true)).0,
      "{\n  \"a\": \"x/y\",\n  \"b\": [\n    1.0\n  ]\n}")
    XCTAssertEqual(try encode(Parameters(7), .init(prettyPrinted: true)).0, "7")
  }
}
