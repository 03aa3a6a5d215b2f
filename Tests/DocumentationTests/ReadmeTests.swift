import Foundation
import XCTest

/// The READMEs are short, and both have the same samples and the same structure.
final class ReadmeTests: XCTestCase {
  private let names = ["README.md", "README.zh.md"]

  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  func test_readmes_areShort_andShowACallOnTheFirstScreen() throws {
    for name in names {
      let text = try text(name)
      XCTAssertTrue(text.hasPrefix("# NetLayer\n"), name)
      // The most common call is on the first screen.
      XCTAssertTrue(text.split(separator: "\n", omittingEmptySubsequences: false).prefix(12).contains("```swift"), name)
      XCTAssertLessThanOrEqual(text.split(separator: "\n", omittingEmptySubsequences: false).count, 96, name)
    }
  }

  func test_readmes_haveTheSameSamples() throws {
    func samples(_ name: String) throws -> [Substring] {
      try text(name).matches(of: /`{3}(?:swift|sh)\n[^`]*`{3}/).map(\.output)
    }
    XCTAssertEqual(try samples(names[0]).count, 3)
    XCTAssertEqual(try samples(names[0]), try samples(names[1]), names[1])
  }

  func test_readmes_haveTheSameStructure() throws {
    let structures = try names.map { Structure(try text($0)) }
    // A count of 0 would compare nothing. The READMEs have no table today.
    XCTAssertGreaterThan(structures[0].headings, 3)
    XCTAssertGreaterThan(structures[0].items, 5)
    XCTAssertGreaterThan(structures[0].paragraphs, 5)
    XCTAssertEqual(structures[0], structures[1], names[1])
  }

  func test_readmes_nameTheTestedVersionsOfSwift() throws {
    let support = try text("docs/support.md")
    let row = try XCTUnwrap(support.firstMatch(of: /\n\| Swift \| ([^|]*) \|/))
    let tested = row.1.matches(of: /\d+\.\d+/).map { String($0.output) }
    XCTAssertFalse(tested.isEmpty)
    for name in names {
      let readme = try text(name)
      let status = try XCTUnwrap(readme.firstMatch(of: /\n\*\*[^*\n]+\*\*.*Swift.*/), name)
      let named = status.output.matches(of: /\d+\.\d+/).map { String($0.output) }
      XCTAssertEqual(named, tested, name)
    }
  }

  /// The numbers of the parts of a page, without its blocks of code.
  private struct Structure: Equatable {
    var headings = 0
    var items = 0
    var rows = 0
    var paragraphs = 0

    init(_ page: String) {
      var isCode = false
      // Whether the next line of text continues the part of the previous line.
      var continues = false
      for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("```") {
          isCode.toggle()
          continues = false
        } else if isCode {
          continue
        } else if line.hasPrefix("#") {
          headings += 1
          continues = false
        } else if line.hasPrefix("- ") {
          items += 1
          continues = true
        } else if line.hasPrefix("|") {
          rows += 1
          continues = true
        } else if line.isEmpty {
          continues = false
        } else if !continues {
          paragraphs += 1
          continues = true
        }
      }
    }
  }
}
