import Foundation
import XCTest

@testable import JSONText

/// Objects of many members, whose names the scanner cannot compare with each other.
final class WideObjectTests: XCTestCase {
  private struct Names: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// The members 1, 21, 41 … of an object; `nil` for a missing one. They are decoded from the last to the first, so that a
  /// search that continued from the last member found would meet a repeated name first.
  private struct Some: Decodable {
    var values: [Int?]
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Names.self)
      values = try stride(from: 1, to: 200, by: 20).reversed().map {
        try container.decodeIfPresent(Int.self, forKey: Names(stringValue: "member_\($0)"))
      }
      .reversed()
    }
  }

  private func decode(_ text: String) throws -> Some { try JSON(parsing: text).decode(Some.self) }

  private func object(_ count: Int, adding more: String = "") -> String {
    "{" + (0..<count).map { "\"member_\($0)\":\($0)" }.joined(separator: ",") + more + "}"
  }

  func test_everyMemberOfAWideObject_isFound() throws {
    for count in [8, 39, 40, 41, 42, 64, 128, 129, 200] {
      let expected = stride(from: 1, to: 200, by: 20).map { $0 < count ? $0 : nil }
      XCTAssertEqual(try decode(object(count)).values, expected, "\(count) members")
    }
  }

  func test_theFirstOfTwoMembers_isFoundInAWideObject() throws {
    for count in [42, 64, 127, 128, 200] {
      let expected = stride(from: 1, to: 200, by: 20).map { $0 < count ? $0 : nil }
      XCTAssertEqual(try decode(object(count, adding: #","member_21":-1"#)).values, expected, "\(count) members")
      XCTAssertEqual(try decode(object(count, adding: #","member_\u0032\u0031":-1"#)).values, expected, "with escapes")
    }
  }

  func test_aNameWithEscapes_isFoundInAWideObject() throws {
    for count in [20, 42, 64, 128] {
      let text = object(count, adding: #","member\u005f181":7"#)
      XCTAssertEqual(try decode(text).values[9], 7, "\(count) members")
    }
  }
}
