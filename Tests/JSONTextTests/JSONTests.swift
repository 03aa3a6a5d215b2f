import JSONText
import XCTest

final class JSONTests: XCTestCase {
  private let text = #"""
    {"code": 200, "data": {"items": [{"name": "a"}, {"name": "b\"\u4F60\uD83D\uDE00"}], "n": null, "t": true},
     "big": 18446744073709551615, "f": 1.5, "e": 2e2, "neg": -12, "a.b": "dot", "code": 500, "k\u0065y": 7}
    """#

  func test_getterGivesTheValueOrNil() throws {
    let json = try JSON(parsing: text)
    XCTAssertEqual(json["code"].int, 200)
    XCTAssertEqual(json["f"].double, 1.5)
    XCTAssertNil(json["f"].int)
    XCTAssertEqual(json["e"].int, 200)
    XCTAssertEqual(json["neg"].int, -12)
    XCTAssertNil(json["big"].int)
    XCTAssertEqual(json["big"].integer(UInt64.self), .max)
    XCTAssertNil(json["big"].integer(UInt8.self))
    XCTAssertEqual(json["data"]["t"].bool, true)
    XCTAssertTrue(json["data"]["n"].isNull)
    XCTAssertNil(json["code"].string)
    XCTAssertNil(json["data"].int)
    XCTAssertEqual(json["data"]["items"].count, 2)
    XCTAssertEqual(json["data"]["items"].array?.map { $0["name"].string }, ["a", "b\"你😀"])
    XCTAssertEqual(json.kind, .object)
  }

  func test_aMissingValueReturnsNilForEverything() throws {
    let json = try JSON(parsing: text)
    let missing = json["x"][3]["y"]
    XCTAssertFalse(missing.exists)
    XCTAssertFalse(missing.isNull)
    XCTAssertEqual(missing.kind, .missing)
    XCTAssertNil(missing.string)
    XCTAssertNil(missing.array)
    XCTAssertNil(missing.count)
    XCTAssertTrue(missing.data.isEmpty)
    XCTAssertFalse(json["data"]["items"][2].exists)
    XCTAssertFalse(json["data"]["items"][-1].exists)
  }

  func test_aPathLeadsThroughObjectsAndArrays() throws {
    let json = try JSON(parsing: text)
    XCTAssertEqual(json[at: "data.items[1].name"].string, "b\"你😀")
    XCTAssertEqual(json[at: "data.items"][at: "[0].name"].string, "a")
    XCTAssertEqual(try JSON(parsing: "[[1,[2,3]]]")[at: "[0][1][1]"].int, 3)
    XCTAssertEqual(json[at: ""].kind, .object)
    for malformed in [".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a]", "a[0]b", "a.[0]"] {
      XCTAssertNil(JSONPath(malformed), malformed)
      XCTAssertFalse(json[at: malformed].exists, malformed)
    }
  }

  func test_aKeySubscriptTakesDotsAsTheyAreAndComparesUnescaped() throws {
    let json = try JSON(parsing: text)
    XCTAssertEqual(json["a.b"].string, "dot")
    XCTAssertEqual(json["key"].int, 7)
    XCTAssertFalse(json[#"k\u0065y"#].exists)
  }

  func test_ofADuplicateKeyTheFirstCounts() throws {
    let json = try JSON(parsing: #"{"a":1,"a":2,"b":{"c":1,"c":2}}"#)
    XCTAssertEqual(json["a"].int, 1)
    XCTAssertEqual(json["b"]["c"].int, 1)
    XCTAssertEqual(json.members?.map(\.key), ["a", "b"])
    XCTAssertEqual(json.count, 3)
  }

  func test_aRootWithMoreMembersThanAreRememberedIsReadToItsEnd() throws {
    let text = "{" + (0..<100).map { "\"k\($0)\": [\($0), \"]}\\\"\"]" }.joined(separator: " , ") + "}"
    let json = try JSON(parsing: text)
    for index in 0..<100 { XCTAssertEqual(json["k\(index)"][0].int, index) }
    XCTAssertFalse(json["k100"].exists)
  }

  func test_aSliceOfDataWithAnOffsetIsReadLikeAWhole() throws {
    let data = Data("xx{\"a\":[1,2]}".utf8).dropFirst(2)
    let json = try JSON(parsing: data)
    XCTAssertEqual(json["a"].data, Data("[1,2]".utf8))
    XCTAssertEqual(json["a"].offset, 5)
    XCTAssertEqual("\(json["a"][1])", "2")
  }

  func test_stringsOfEveryLengthSurviveTheEightByteSteps() throws {
    for length in 0..<40 {
      for special in ["", "\\n", "é", "\\\"", "\\uD83D\\uDE00"] {
        let plain = String(repeating: "x", count: length)
        let json = try JSON(parsing: "[\"\(plain)\(special)\(plain)\",1]")
        XCTAssertEqual(json[1].int, 1)
        XCTAssertEqual(json[0].string?.hasPrefix(plain), true)
        XCTAssertEqual(json[0].string?.hasSuffix(plain), true)
      }
    }
  }

  func test_changingTheDataThatAValueGaveLeavesItAsItWas() throws {
    for count in [10, 300, 100_000] {
      let text = "[\"\(String(repeating: "x", count: count))\"]"
      let json = try JSON(parsing: text)
      for change: (inout Data) -> Void in [
        { $0[$0.count - 2] = UInt8(ascii: "\\") }, { $0.removeSubrange(0..<5) }, { $0.resetBytes(in: 0..<5) },
        { $0.replaceSubrange(0..<2, with: [1, 2, 3, 4]) }, { $0.append(contentsOf: Array(repeating: 1, count: 64)) },
      ] {
        var data = json[0].data
        change(&data)
        XCTAssertEqual(json.description, text)
        XCTAssertEqual(json[0].string?.count, count)
      }
    }
  }

  func test_aTextInAStringIsTakenAsItIs() throws {
    for text in ["1\u{0}", "\u{0}1", "1\u{0}\u{0}\u{0}", "\u{0}\u{0}\u{0}1"] {
      XCTAssertThrowsError(try JSON(parsing: text), text.debugDescription)
    }
    XCTAssertEqual(try JSON(parsing: "\u{FEFF}[1]")[0].int, 1)
  }
}
