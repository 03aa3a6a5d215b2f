import Foundation
import XCTest

/// The package Tests/Names compiles the spellings of the page "Names that collide".
final class CollisionsTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

  func test_everySpellingOfThePage_isCompiled() throws {
    let page = root.appending(path: "Sources/NetLayer/NetLayer.docc/NamesThatCollide.md")
    let folder = root.appending(path: "Tests/Names/Collisions")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let code = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| ") }
    var count = 0
    for row in rows.dropFirst() {
      let cells = row.split(separator: " | ")
      XCTAssertEqual(cells.count, 4, "\(row)")
      for spelling in cells.suffix(2).joined().matches(of: /`([^`]+)`/).map(\.1) {
        count += 1
        let literal = NSRegularExpression.escapedPattern(for: String(spelling))
        let use = try Regex("[^\\w.]\(literal)\\b").wordBoundaryKind(.simple)
        XCTAssertNotNil(try use.firstMatch(in: code), "Tests/Names does not compile \(spelling)")
      }
    }
    XCTAssertGreaterThan(count, 30, "the table was not found")
  }
}
