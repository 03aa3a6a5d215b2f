import Foundation
import Streams
import XCTest

/// The output of samples, for comparison with the output on their page.
enum Printed {
  private static let lines = Locked<[String]>([])
  private static let begun = Locked("")

  static func add(_ line: String) {
    let start = begun.withLock { begun in
      defer { begun = "" }
      return begun
    }
    lines.withLock { $0.append(start + line) }
  }

  static func begin(_ text: String) { begun.withLock { $0 += text } }

  /// Returns the output since the last call, and removes it.
  static func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

/// Replaces the function of the standard library in the samples of this module.
func print(_ items: Any...) { Printed.add(items.map { "\($0)" }.joined(separator: " ")) }

func print(_ item: Any, terminator: String) { Printed.begin("\(item)\(terminator)") }

/// Checks that the samples have printed the `number`th block of output on `page`.
func assertPrinted(
  asIn page: String, _ number: Int = 0, file: StaticString = #filePath, line: UInt = #line
) throws {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let files = FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil)
  let found = (files?.compactMap { $0 as? URL } ?? []).first { $0.lastPathComponent == page + ".md" }
  let url = try XCTUnwrap(found, "there is no page \(page)", file: file, line: line)
  let blocks = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "```text\n").dropFirst()
    .compactMap { $0.components(separatedBy: "\n```").first }
  guard blocks.indices.contains(number) else {
    return XCTFail("\(page) has no block of output \(number)", file: file, line: line)
  }
  XCTAssertEqual(Printed.take().joined(separator: "\n"), blocks[number], page, file: file, line: line)
}
