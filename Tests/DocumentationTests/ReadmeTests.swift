import Foundation
import XCTest

/// The READMEs are short, and both have the same samples.
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
      try text(name).matches(of: /```(?:swift|sh)\n[^`]*```/).map(\.output)
    }
    XCTAssertEqual(try samples(names[0]).count, 3)
    XCTAssertEqual(try samples(names[0]), try samples(names[1]))
  }
}
