import Foundation
import XCTest

/// The READMEs are short, and their numbers match the measurements.
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
      XCTAssertLessThanOrEqual(text.split(separator: "\n", omittingEmptySubsequences: false).count, 131, name)
    }
  }

  func test_everyNumberInTheReadmes_isABenchmarkResult() throws {
    let number = /\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?/
    func rounded(_ text: Substring) -> Int { Int(Double(text.replacing(",", with: "")).map { $0.rounded() } ?? -1) }
    let measured = Set(try text("docs/benchmarks.md").matches(of: number).map { rounded($0.output) })
    for name in names {
      // The rows with a footnote that names a command.
      let rows = try text(name).split(separator: "\n").filter {
        $0.hasPrefix("|") && ($0.contains("¹") || $0.contains("²"))
      }
      XCTAssertEqual(rows.count, 5, name)
      for cell in rows.flatMap({ $0.split(separator: "|").dropFirst() }) {
        for match in cell.matches(of: number) {
          XCTAssertTrue(
            measured.contains(rounded(match.output)), "\(name): \(match.output) is not in docs/benchmarks.md")
        }
      }
    }
  }
}
