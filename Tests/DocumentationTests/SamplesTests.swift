import Foundation
import XCTest

/// Every Swift sample in the documentation is part of a file in `Samples/`, which is compiled.
final class SamplesTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let strict = "Samples/FirstEndpoint/Sources/MainActorApp"

  func test_everySwiftSample_isCompiled() throws {
    let samples =
      try texts(in: "Tests/DocumentationTests/Samples") + texts(in: strict) + texts(in: "Samples/Reader/Sources")
      + texts(in: "Samples/Reader/Tests")
    var pages = ["README.md", "README.zh.md", "CONTRIBUTING.md"].map { root.appending(path: $0) }
    pages += try files(in: root.appending(path: "docs"), ending: "md")
    pages += try files(in: root.appending(path: "Sources"), ending: "md")
    pages += try files(in: root.appending(path: "Tests/Articles"), ending: "md")
    var count = 0
    for page in pages {
      for block in blocks(try String(contentsOf: page, encoding: .utf8)) {
        // A sample may contain declarations and statements, which are in different places of the file.
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

  func test_firstPages_alsoCompileOnTheMainActor() throws {
    let samples = try texts(in: strict)
    for page in ["README.md", "Sources/NetLayer/NetLayer.docc/GettingStarted.md"] {
      let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
      for part in blocks(text).flatMap({ $0.components(separatedBy: "\n\n") }) {
        XCTAssertTrue(samples.contains { $0.contains(squeezed(part)) }, "\(page): \(strict) lacks:\n\(part)")
      }
    }
  }

  private func texts(in folder: String) throws -> [String] {
    try files(in: root.appending(path: folder), ending: "swift")
      .map { try squeezed(String(contentsOf: $0, encoding: .utf8)) }
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

  /// Returns the text without indentation and blank lines.
  private func squeezed(_ text: String) -> String {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
      .joined(separator: "\n")
  }
}
