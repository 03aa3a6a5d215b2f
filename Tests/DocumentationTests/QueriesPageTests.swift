import Foundation
import XCTest

/// The table in docs/queries.md contains every row of the semantics, and each row has tests with its number.
final class QueriesPageTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_everyRow_hasTests() throws {
    let page = try String(contentsOf: root.appending(path: "docs/queries.md"), encoding: .utf8)
    let listed = page.split(separator: "\n").compactMap { line in
      line.prefixMatch(of: /\| (\d+) \|/).flatMap { Int($0.1) }
    }
    XCTAssertEqual(listed, Array(1...45))
    let index = try String(contentsOf: root.appending(path: "docs/README.md"), encoding: .utf8)
    XCTAssertTrue(index.contains("[live queries](queries.md) | what a screen sees in \(listed.count) situations"))
    var tested: Set<Int> = []
    let folder = root.appending(path: "Tests/NetLayerQueriesTests")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /func test_query_row_(\d\d)_/) {
        tested.insert(Int(match.1) ?? 0)
      }
    }
    XCTAssertEqual(tested.sorted(), listed)
  }
}
