import Foundation
import XCTest

/// The tables in Tests/Articles contain every row of the articles, and all tests that they name exist.
final class ArticleTablesTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_everyRow_namesAnExistingTest() throws {
    let folder = root.appending(path: "Tests/Articles")
    var rows: [String: String] = [:]
    for page in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 3, cells[0].wholeMatch(of: /\d\.\d+/) != nil else { continue }
        rows[cells[0]] = cells[2]
      }
    }
    let counts = [28, 21, 21, 18, 8]
    let wanted = counts.enumerated().flatMap { article, count in (1...count).map { "\(article).\($0)" } }
    XCTAssertEqual(Set(rows.keys), Set(wanted))
    let tests = try source()
    for (row, shown) in rows {
      XCTAssertFalse(shown.isEmpty, row)
      for test in shown.matches(of: /`(test_row_\w+)`/) {
        XCTAssertTrue(tests.contains("func \(test.1)("), "row \(row): there is no \(test.1)")
        XCTAssertTrue(test.1.hasPrefix("test_row_\(row.replacing(".", with: "_"))_"), "row \(row) names \(test.1)")
      }
    }
  }

  private func source() throws -> String {
    let folder = root.appending(path: "Tests")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
  }
}
