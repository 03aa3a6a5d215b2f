import Foundation
import XCTest

/// Every Swift sample in the documentation stands, word for word, in a file of `Samples/`, which the compiler reads.
final class SamplesTests: XCTestCase {
  func test_everySwiftSampleIsCompiled() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let samples = try files(in: root.appending(path: "Tests/DocumentationTests/Samples"), ending: "swift")
      .map { try squeezed(String(contentsOf: $0, encoding: .utf8)) }
    var pages = ["README.md", "README.zh.md", "CONTRIBUTING.md"].map { root.appending(path: $0) }
    pages += try files(in: root.appending(path: "docs"), ending: "md")
    pages += try files(in: root.appending(path: "Sources"), ending: "md")
    var count = 0
    for page in pages {
      for block in blocks(try String(contentsOf: page, encoding: .utf8)) {
        // A sample may mix declarations and statements, which compile in different places.
        for part in block.components(separatedBy: "\n\n") {
          count += 1
          XCTAssertTrue(
            samples.contains { $0.contains(squeezed(part)) },
            "\(page.lastPathComponent): no file of Samples/ has:\n\(part)")
        }
      }
    }
    XCTAssertGreaterThan(count, 3, "the samples were not found")
  }

  private func files(in folder: URL, ending: String) throws -> [URL] {
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == ending }
  }

  private func blocks(_ text: String) -> [String] {
    var blocks: [String] = []
    var current: [String]?
    for line in text.components(separatedBy: "\n") {
      if line.trimmingCharacters(in: .whitespaces) == "```swift" {
        current = []
      } else if line.trimmingCharacters(in: .whitespaces) == "```" {
        if let lines = current { blocks.append(lines.joined(separator: "\n")) }
        current = nil
      } else {
        current?.append(line)
      }
    }
    return blocks
  }

  /// The text without indentation and blank lines.
  private func squeezed(_ text: String) -> String {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
      .joined(separator: "\n")
  }
}
