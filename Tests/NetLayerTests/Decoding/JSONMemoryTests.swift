import Foundation
import NetLayer
import TestSupport
import XCTest

/// The memory of JSON texts, which the parser allocates and frees itself.
final class JSONMemoryTests: XCTestCase {
  func test_textsAreFreed_alsoThoseOfWhichParsingFails() throws {
    let long = Data(#"{"a":[""#.utf8) + Data(repeating: 0x61, count: 100_000) + Data(#""]}"#.utf8)
    let utf16 = try XCTUnwrap(String(decoding: long, as: UTF8.self).data(using: .utf16LittleEndian))
    let many = Data(("[" + String(repeating: "[],", count: 10_000) + "0]").utf8)
    let texts: [(String, Data, count: Int)] = [
      ("long", long, 200), ("cut", long.dropLast(), 200), ("UTF-16", utf16, 200), ("many values", many, 100),
      ("short", Data(#"{"a":1}"#.utf8), 150_000), ("short and cut", Data(#"{"a":"#.utf8), 150_000),
    ]
    for (name, text, count) in texts {
      let growth = residentGrowth { for _ in 0..<count { _ = try? JSON(parsing: text) } }
      guard let growth else { throw XCTSkip("the memory in use is unknown here") }
      XCTAssertLessThan(growth, 12 << 20, name)
    }
  }
}
