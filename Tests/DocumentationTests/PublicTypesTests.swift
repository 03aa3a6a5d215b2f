import Foundation
import XCTest

/// Every public type is named on a page.
final class PublicTypesTests: XCTestCase {
  func test_everyPublicTypeIsNamedOnAPage() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let pages = try texts(in: root.appending(path: "Sources"), "md") + texts(in: root.appending(path: "docs"), "md")
    let words = Set(pages.joined(separator: "\n").matches(of: /\w+/).map { String($0.output) })
    var count = 0
    for api in try texts(in: root.appending(path: "docs/api"), "txt") {
      for line in api.split(separator: "\n") {
        guard let type = line.prefixMatch(of: /(?:final )?(?:struct|class|enum|protocol|actor|typealias) (\w+)/) else {
          continue
        }
        count += 1
        XCTAssertTrue(words.contains(String(type.1)), "no page names \(type.1)")
      }
    }
    XCTAssertGreaterThan(count, 100)
  }

  private func texts(in folder: URL, _ ending: String) throws -> [String] {
    let files = try XCTUnwrap(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == ending }
      .map { try String(contentsOf: $0, encoding: .utf8) }
  }
}
