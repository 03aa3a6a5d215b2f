import Foundation
import XCTest

/// The table in docs/outbox.md contains every row of the semantics, and all tests that it names exist.
final class OutboxPageTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_everyRow_namesAllItsTests() throws {
    let page = try String(contentsOf: root.appending(path: "docs/outbox.md"), encoding: .utf8)
    var named: [Int: Set<String>] = [:]
    for line in page.split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, let row = Int(cells[0]) else { continue }
      named[row] = Set(cells[4].matches(of: /`(test_outbox_row_\w+)`/).map { String($0.1) })
    }
    XCTAssertEqual(named.keys.sorted(), Array(1...42))
    let index = try String(contentsOf: root.appending(path: "docs/README.md"), encoding: .utf8)
    XCTAssertTrue(index.contains("[outbox](outbox.md) | what app and server see in \(named.count) situations"))
    var existing: [Int: Set<String>] = [:]
    let folder = root.appending(path: "Tests/NetLayerOfflineTests/Outbox")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let text = try String(contentsOf: file, encoding: .utf8)
      // A test may be of several rows.
      for match in text.matches(of: /func (test_outbox_row_((?:\d\d_)+)\w+)\(/) {
        for row in match.2.split(separator: "_").compactMap({ Int($0) }) {
          existing[row, default: []].insert(String(match.1))
        }
      }
    }
    for (row, tests) in named { XCTAssertEqual(tests, existing[row] ?? [], "row \(row)") }
  }
}
