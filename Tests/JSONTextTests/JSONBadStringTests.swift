import Foundation
import JSONText
import XCTest

/// Strings that the grammar allows but that are not valid Unicode: reading them fails, reading their neighbors does
/// not.
final class JSONBadStringTests: XCTestCase {
  private struct Item: Codable, Equatable { var id: Int }
  private struct Comment: Decodable { var comment: String }

  /// Returns a text in which `~` represents the byte FF.
  private func data(_ text: String) -> Data { Data(text.utf8.map { $0 == UInt8(ascii: "~") ? 0xFF : $0 }) }

  private func json(_ text: String) throws -> JSON { try JSON(parsing: data(text)) }

  private let bad = [#"cut emoji \ud83d"#, #"\udc00"#, #"\ud83d\u0041"#, #"\ud83d\ud83d\ude00"#, "a~b", #"~\n\ud800"#]

  private func corruption(_ body: () throws -> Void) -> (path: [String], text: String)? {
    do { try body() } catch DecodingError.dataCorrupted(let context) {
      return (context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }, context.debugDescription)
    } catch { XCTFail("\(error)") }
    return nil
  }

  func test_aBadStringInAMemberThatIsNotReadHarmsNobody() throws {
    for bad in bad {
      let text = #"{"code":200,"data":{"id":7,"comment":"\#(bad)","\#(bad)":1}}"#
      let json = try json(text)
      XCTAssertEqual(json["data"]["id"].int, 7)
      XCTAssertEqual(try json["data"].decode(Item.self), Item(id: 7))
      XCTAssertEqual(json.data, data(text), "its bytes are as they came")
    }
  }

  func test_aBadStringFailsWhenItIsReadWithItsPathAndByte() throws {
    let json = try json(#"{"a":[{"comment":"x"},{"comment":"ab\ud83d"}]}"#)
    let error = try XCTUnwrap(corruption { _ = try json["a"].decode([Comment].self) })
    XCTAssertEqual(error.path, ["1", "comment"])
    XCTAssertEqual(error.text, "The string is not valid Unicode: unpaired surrogate at byte 36, at byte 33.")
    let bytes = try self.json(#"{"comment":"x~"}"#)
    XCTAssertEqual(
      corruption { _ = try bytes.decode(Comment.self) }?.text,
      "The string is not valid Unicode: invalid UTF-8 byte 0xff at byte 13, at byte 11.")
    for bad in bad {
      let json = try self.json(#"["\#(bad)"]"#)
      XCTAssertNil(json[0].string)
      XCTAssertEqual(json[0].kind, .string)
      for body in [
        { _ = try json.decode([String].self) }, { _ = try json.decode([String?].self) },
        { _ = try json.decode([URL].self) },
        { _ = try json.decode([Data].self) },
      ] { XCTAssertEqual(corruption(body)?.path, ["0"], bad) }
      XCTAssertThrowsError(try json.decode([Int].self)) { error in
        guard case DecodingError.typeMismatch = error else { return XCTFail("\(error)") }
      }
    }
  }

  func test_aBadKeyIsFoundByNobodyAndFailsADictionary() throws {
    for bad in bad {
      let json = try json(#"{"\#(bad)":1,"\#(bad)":2,"a":3}"#)
      XCTAssertEqual(json["a"].int, 3)
      XCTAssertEqual(try json.decode([String: JSON].self, ifThere: "a"), 3)
      XCTAssertEqual(json.members?.map(\.key).last, "a")
      XCTAssertTrue(json.members?.first?.key.contains("\u{FFFD}") == true)
      XCTAssertEqual(
        corruption { _ = try json.decode([String: Int].self) }?.text.hasPrefix("A key is not valid Unicode"), true)
    }
  }

  func test_badKeysDifferByTheirBytes() throws {
    let bytes: ([UInt8], [UInt8]) -> Data = { first, second in
      Data("{\"".utf8) + first + Data("\":1,\"".utf8) + second + Data("\":2}".utf8)
    }
    let different = try JSON(parsing: bytes([0xBC], [0xA4]))
    XCTAssertEqual(different, try JSON(parsing: different.data), "a value is equal to itself")
    XCTAssertEqual(different.members?.map(\.key), ["\u{FFFD}", "\u{FFFD}"])
    XCTAssertEqual(different.members?.map(\.value), [1, 2])
    XCTAssertEqual(
      different, try JSON(parsing: Data("{\"".utf8) + [0xA4] + Data("\":2,\"".utf8) + [0xBC] + Data("\":1}".utf8)))
    XCTAssertNotEqual(different, try JSON(parsing: bytes([0xBC], [0xA5])))
    XCTAssertNotEqual(different, try JSON(parsing: bytes(Array("\u{FFFD}".utf8), [0xA4])))
    // With a key that makes the scanner check for duplicate names.
    let halves = try JSON(parsing: Data(#"{"\ud800":1,"\ud801":2,"a":3,"a":4}"#.utf8))
    XCTAssertEqual(halves.members?.map(\.value), [1, 2, 3])
    XCTAssertEqual(halves, try JSON(parsing: halves.data))
    XCTAssertEqual(halves, try JSON(parsing: halves.pretty()), "printed, it is the same value")
  }

  func test_badStringsAreEqualByTheirBytesAndCannotBeEncoded() throws {
    let strings = try json(#"["\ud800","\ud801","\ud800","a"]"#)
    XCTAssertEqual(strings[0], strings[2])
    XCTAssertNotEqual(strings[0], strings[1])
    XCTAssertNotEqual(strings[0], strings[3])
    XCTAssertThrowsError(try JSONEncoder().encode(strings)) {
      XCTAssertTrue("\($0)".contains("is not valid Unicode"), "\($0)")
    }
    XCTAssertEqual(strings.pretty(indent: ""), "[\n\"\\ud800\",\n\"\\ud801\",\n\"\\ud800\",\n\"a\"\n]")
  }

  func test_halvesDoNotSwallowWhatFollows() throws {
    let json = try json(#"{"\ud83d12abcd\u0041":1,"\ud83d\ud83d\ude00":2}"#)
    XCTAssertEqual(json.members?.map(\.key), ["\u{FFFD}12abcdA", "\u{FFFD}😀"])
  }
}

extension JSON {
  fileprivate func decode(_ type: [String: JSON].Type, ifThere key: String) throws -> Int? {
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    struct Probe: Decodable {
      let keys: [String]
      let a: Int

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        keys = container.allKeys.map(\.stringValue)
        a = try container.decode(Int.self, forKey: Key(stringValue: "a"))
      }
    }
    return try decode(Probe.self).a
  }
}
