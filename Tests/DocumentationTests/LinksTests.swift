import Foundation
import XCTest

/// The targets of links in pages exist.
final class LinksTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_everyFileLink_hasAnExistingTarget() throws {
    var pages = [
      "README.md", "README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
      "Samples/FirstEndpoint/README.md",
    ].map { root.appending(path: $0) }
    let docs = FileManager.default.enumerator(at: root.appending(path: "docs"), includingPropertiesForKeys: nil)
    pages += (docs?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
    var count = 0
    for page in pages {
      let text = try String(contentsOf: page, encoding: .utf8)
      let links =
        text.matches(of: /\]\(([^)#]+)[^)]*\)/).map(\.1) + text.matches(of: /(?:src|srcset)="([^"]+)"/).map(\.1)
      for link in links where !link.contains("://") {
        count += 1
        let target = page.deletingLastPathComponent().appending(path: String(link))
        XCTAssertTrue(
          FileManager.default.fileExists(atPath: target.path), "\(page.lastPathComponent) points to \(link)")
      }
    }
    XCTAssertGreaterThan(count, 30, "the links were not found")
  }
}
