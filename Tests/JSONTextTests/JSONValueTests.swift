import XCTest

@testable import JSONText

final class JSONValueTests: XCTestCase {
  func test_row_1_5_literalsMakeJSON() throws {
    let json: JSON = ["a": 1, "b": [true, nil, "x\"\n", 1.5], "c": [:], "d": []]
    XCTAssertEqual(json.description, #"{"a":1,"b":[true,null,"x\"\n",1.5],"c":{},"d":[]}"#)
    XCTAssertEqual(json["b"][2].string, "x\"\n")
    let name = "\"x"
    let interpolated: JSON = ["a": "\(name) and \(1)"]
    XCTAssertEqual(interpolated.description, #"{"a":"\"x and 1"}"#)
    XCTAssertEqual(JSON("null"), try JSON(parsing: #""null""#), "a literal is a string, not a text to parse")
    let missing = json["nothing"]
    XCTAssertEqual(([missing] as JSON).description, "[null]")
  }

  func test_equalityIsByValue() throws {
    func json(_ text: String) throws -> JSON { try JSON(parsing: text) }
    for (a, b) in [
      ("1", "1.0"), ("1", "10e-1"), ("-0", "0"), ("100", "1E+2"), (#""a""#, #""\u0061""#),
      (#"{"a":1,"b":[2]}"#, #" { "b" : [ 2.0 ] , "a":1 } "#), ("18446744073709551615", "18446744073709551615.0"),
      (#"{"a":1,"a":2}"#, #"{"a":1}"#),
    ] { XCTAssertEqual(try json(a), try json(b), "\(a) \(b)") }
    for (a, b) in [
      ("1", "2"), ("1", "\"1\""), ("null", "false"), ("[1,2]", "[2,1]"), (#"{"a":1}"#, #"{"a":1,"b":null}"#),
      ("9007199254740993", "9007199254740992"), ("0.1", "0.10000000000000001"), ("1", "-1"), ("1e999", "1e998"),
    ] { XCTAssertNotEqual(try json(a), try json(b), "\(a) \(b)") }
    XCTAssertEqual(try json("1")["x"], try json("[]")[3], "what is not there is alike")
  }

  func test_exponentsOfAnyLength_areReadWithoutTrap() throws {
    for digits in ["99", "2147483647", "2147483648", "9999999999", String(repeating: "9", count: 1_000)] {
      for text in ["1e\(digits)", "-1.5E+\(digits)", "1000e\(digits)"] {
        XCTAssertNil(try JSON(parsing: text).int, text)
        XCTAssertEqual(try JSON(parsing: text), try JSON(parsing: text), text)
      }
      for text in ["1e-\(digits)", "0.0001E-\(digits)"] {
        XCTAssertNil(try JSON(parsing: text).int, text)
        XCTAssertNotEqual(try JSON(parsing: text), try JSON(parsing: "0"), text)
      }
      XCTAssertEqual(try JSON(parsing: "0e\(digits)").int, 0)
      XCTAssertEqual(try JSON(parsing: "0e\(digits)"), try JSON(parsing: "0"))
    }
  }

  func test_exponents_fitAnIntOf32Bits() {
    for (text, value) in [
      ("0", 0), ("-17", -17), ("+300", 300), ("1073741823", 1 << 30 - 1), ("1073741824", 1 << 30),
      ("2147483648", 1 << 30),
      ("-9999999999", -1 << 30), (String(repeating: "9", count: 100), 1 << 30),
    ] {
      Array(text.utf8).withUnsafeBufferPointer { XCTAssertEqual(JSONNumber.power($0[...]), Int32(value), text) }
    }
    // The sum of an exponent and the number of digits of any text also fits.
    XCTAssertNotNil(Int32(exactly: 1 << 30 + JSONWord.maxOffset))
  }

  func test_numbersAreExact() throws {
    let json = try JSON(parsing: "[18446744073709551615,-9223372036854775808,0.1,1e400,123456789.987654321,1e-3]")
    XCTAssertEqual(json[0].integer(UInt64.self), .max)
    XCTAssertEqual(json[1].integer(Int64.self), .min)
    XCTAssertEqual(json[2].decimal, Decimal(sign: .plus, exponent: -1, significand: 1))
    XCTAssertNil(json[3].decimal)
    XCTAssertEqual(json[4].decimal?.description, "123456789.987654321")
    XCTAssertEqual(json[5].decimal, Decimal(sign: .plus, exponent: -3, significand: 1))
    XCTAssertNil(JSON("1").decimal)
    XCTAssertNil(try JSON(parsing: "1.00000000000000000000000000000000000000001").decimal)
  }

  func test_itIsCodable() throws {
    struct Model: Codable, Equatable {
      var id: Int
      var extra: JSON
    }
    let text = #"{"id":1,"extra":{"n":[18446744073709551615,-1,2.5,true,null,"é\"",{}],"a.b":[]}}"#
    let model = try JSON(parsing: text).decode(Model.self)
    XCTAssertEqual(model.extra, try JSON(parsing: text)["extra"])
    XCTAssertEqual(model.extra["n"][0].integer(UInt64.self), .max)
    let written = try JSONEncoder().encode(model)
    XCTAssertEqual(try JSON(parsing: written), try JSON(parsing: text))
    XCTAssertEqual(try JSON(parsing: text).decode(JSON.self).description, text, "as the whole model, the text stays")
    XCTAssertThrowsError(try JSONEncoder().encode(["a": JSON("x")["none"]]))
  }

  func test_itIsPrettyPrinted() throws {
    let json = try JSON(parsing: #"{"b":[1,{"x":null}],"a":{},"c":[]}"#)
    XCTAssertEqual(
      json.pretty(),
      """
      {
        "b": [
          1,
          {
            "x": null
          }
        ],
        "a": {},
        "c": []
      }
      """)
    XCTAssertTrue(json.pretty(sortsKeys: true).hasPrefix("{\n  \"a\": {}"))
    XCTAssertEqual(try JSON(parsing: json.pretty(indent: "\t")), json)
    XCTAssertEqual(json["none"].pretty(), "")
  }

  func test_otherDecodersMayGoAsDeepAsTheScanner() throws {
    let text = String(repeating: "[", count: 512) + "1" + String(repeating: "]", count: 512)
    let json = LargeStack.run(depth: 512) { Result { try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) } }
    XCTAssertEqual(try json.get().description, text)
  }

  func test_otherDecodersMayNotGoDeeperThanTheScanner() throws {
    for (depth, isAllowed) in [(512, true), (513, false)] {
      for (open, close) in [("<array>", "</array>"), ("<dict><key>k</key>", "</dict>")] {
        let list =
          #"<?xml version="1.0"?><plist version="1.0">"# + String(repeating: open, count: depth) + "<true/>"
          + String(repeating: close, count: depth) + "</plist>"
        let json = LargeStack.run(depth: 512) {
          Result { try PropertyListDecoder().decode(JSON.self, from: Data(list.utf8)) }
        }
        XCTAssertEqual((try? json.get()) != nil, isAllowed, "\(depth) \(open)")
      }
    }
  }

  func test_otherDecodersKeepTheDigitsOfFractions() throws {
    // A Double has fewer digits.
    let text = "[0.1234567890123456789012,-12345678901234567890.5]"
    XCTAssertEqual(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)).description, text)
  }

  func test_fractionsPassThroughEncodersThatKnowNoDecimal() throws {
    let json: JSON = ["a": [1.5, -0.1, 1e300, 3]]
    let list = try PropertyListEncoder().encode(json)
    XCTAssertEqual(try PropertyListDecoder().decode(JSON.self, from: list), json)
    let exact = "[0.1234567890123456789012345678901]"
    XCTAssertEqual(String(decoding: try JSONEncoder().encode(JSON(parsing: exact)), as: UTF8.self), exact)
  }

  func test_aNumberThatFitsNowhereIsNamedWhenItIsEncoded() throws {
    XCTAssertThrowsError(try JSONEncoder().encode(JSON(parsing: "[1e999]"))) { error in
      guard case EncodingError.invalidValue(_, let context) = error else { return XCTFail("\(error)") }
      XCTAssertTrue(context.debugDescription.contains("1e999"), context.debugDescription)
    }
  }

  func test_variables_becomeValues() {
    let (text, number, fraction, flag) = ("a\"b", 7, 1.5, true)
    let rows: [(JSON, String)] = [
      (JSON(text), #""a\"b""#), (JSON(number), "7"), (JSON(fraction), "1.5"), (JSON(flag), "true"),
      (JSON(Double.nan), "null"), (JSON(Double.infinity), "null"), (JSON(Int.min), "-9223372036854775808"),
      (JSON([JSON(text), JSON(number), nil]), #"["a\"b",7,null]"#), (JSON([JSON]()), "[]"),
      (JSON(["b": JSON(number), "a": [JSON(flag)]]), #"{"a":[true],"b":7}"#), (JSON([String: JSON]()), "{}"),
      (["id": JSON(number), "after": nil], #"{"id":7,"after":null}"#),
      (JSON([JSON(7)["missing"]]), "[null]"), (JSON(["a": JSON(7)["missing"]]), #"{"a":null}"#),
    ]
    for (json, text) in rows { XCTAssertEqual(json.description, text) }
  }
}
