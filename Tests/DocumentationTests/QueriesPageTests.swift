import Foundation
import XCTest

/// The table in docs/queries.md contains every row of the semantics, and all tests that it names exist.
final class QueriesPageTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_everyRow_namesAllItsTests() throws {
    let page = try String(contentsOf: root.appending(path: "docs/queries.md"), encoding: .utf8)
    var named: [Int: [String]] = [:]
    for line in page.split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, let row = Int(cells[0]) else { continue }
      named[row] = cells[4].matches(of: /`(test_query_row_\w+)`/).map { String($0.1) }
    }
    XCTAssertEqual(named.keys.sorted(), Array(1...45))
    var existing: [Int: [String]] = [:]
    let folder = root.appending(path: "Tests/NetLayerTests/Watching")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /func (test_query_row_(\d\d)_\w+)\(/) {
        existing[Int(match.2) ?? 0, default: []].append(String(match.1))
      }
    }
    for (row, tests) in named { XCTAssertEqual(Set(tests), Set(existing[row] ?? []), "row \(row)") }
  }
}
