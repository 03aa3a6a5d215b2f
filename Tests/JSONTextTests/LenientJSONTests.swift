import PortableFoundation
import XCTest

@testable import JSONText

final class LenientJSONTests: XCTestCase {
  func test_numbersOfStringsAndBooleans() throws {
    for (text, int) in [
      (#""12""#, 12), (#"" 12\n""#, 12), (#""+12""#, 12), (#""-0012""#, -12), (#""12.0""#, 12), (#""1e2""#, 100),
      (#""000""#, 0), ("true", 1), ("false", 0), ("7", 7),
    ] {
      XCTAssertEqual(try JSON(parsing: text).lenient.int, int, text)
      XCTAssertEqual(try JSON(parsing: text).lenient.double, Double(int), text)
      XCTAssertEqual(try JSON(parsing: text).lenient.decimal, Decimal(int), text)
    }
    for text in [
      #""12.5""#, #""12 13""#, #""""#, #"" ""#, #""--1""#, #""+-1""#, #""0x10""#, #""nan""#, #""1,5""#, #""[1]""#,
      "null", "[12]",
      #"{"a":12}"#, #""12€""#, #""٣""#, #""\ud800""#, "12.5", #""99999999999999999999""#,
    ] { XCTAssertNil((try? JSON(parsing: text))?.lenient.int, text) }
    XCTAssertEqual(try JSON(parsing: #"".5""#).lenient.double, nil)
    XCTAssertEqual(try JSON(parsing: #""-12.50""#).lenient.double, -12.5)
    XCTAssertEqual(try JSON(parsing: #""18446744073709551615""#).lenient.integer(UInt64.self), .max)
    XCTAssertNil(try JSON(parsing: #""12""#).int, "leniency is on request")
  }

  /// Blanks that JSON does not allow around a number.
  func test_blanksOfAnyScript_mayBeAroundANumber() throws {
    for blank in ["\\u00a0", "\u{3000}", "\\u000b", "\u{2003}\u{a0}"] {
      for text in ["\"12\(blank)\"", "\"\(blank)12\"", "\"\(blank)12\(blank)\""] {
        XCTAssertEqual(try JSON(parsing: text).lenient.int, 12, text.debugDescription)
      }
    }
  }

  func test_textOfNumbersAndBooleans() throws {
    for (text, string) in [
      ("12", "12"), ("1.50", "1.50"), ("1e400", "1e400"), ("true", "true"), ("false", "false"), (#""a""#, "a"),
    ] {
      XCTAssertEqual(try JSON(parsing: text).lenient.string, string)
    }
    for text in ["null", "[1]", "{}", #""\ud800""#] { XCTAssertNil(try JSON(parsing: text).lenient.string, text) }
    XCTAssertNil(try JSON(parsing: "12").string)
  }

  func test_booleansOfNumbersAndStrings() throws {
    for text in ["true", "1", "2", "-0.5", #""true""#, #""Yes""#, #""y""#, #""T""#, #""1""#] {
      XCTAssertEqual(try JSON(parsing: text).lenient.bool, true, text)
    }
    for text in ["false", "0", "0.0", #""FALSE""#, #""no""#, #""n""#, #""f""#, #""0""#] {
      XCTAssertEqual(try JSON(parsing: text).lenient.bool, false, text)
    }
    for text in ["null", #""""#, #""2""#, #""on""#, "[true]"] {
      XCTAssertNil(try JSON(parsing: text).lenient.bool, text)
    }
    XCTAssertNil(try JSON(parsing: "1").bool)
  }

  func test_passesToAllValuesInside() throws {
    let json = try JSON(parsing: #"{"data":[{"id":"12","can_delete":1}]}"#).lenient
    XCTAssertEqual(json["data"][0]["id"].int, 12)
    XCTAssertEqual(json[at: "data[0].can_delete"].bool, true)
    XCTAssertEqual(json["data"].array?.first?["id"].int, 12)
    XCTAssertEqual(json["data"][0].members?.first?.value.int, 12)
  }

  func test_neitherEncodingNorEqualityNorModelsAreLenient() throws {
    struct Share: Decodable {
      var id: Int
    }
    let text = #"{"id":"12","flag":1,"on":true}"#
    let json = try JSON(parsing: text).lenient
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    XCTAssertEqual(String(decoding: try encoder.encode(json), as: UTF8.self), #"{"flag":1,"id":"12","on":true}"#)
    XCTAssertEqual(json, try JSON(parsing: text))
    XCTAssertNotEqual(json["id"], 12)
    XCTAssertNotEqual(json["flag"], true)
    XCTAssertThrowsError(try json.decode(Share.self))
  }
}
