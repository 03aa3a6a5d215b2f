import Foundation
import XCTest

/// The way of a call in docs/architecture.md is the one that the code takes.
final class ArchitectureTests: XCTestCase {
  func testTheWayOfACallIsDrawnAsItIs() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let page = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
    let behind = try XCTUnwrap(page.range(of: "<!-- the way of a call -->\n```\n")).upperBound
    let drawing = page[behind...].prefix(upTo: try XCTUnwrap(page[behind...].range(of: "```")).lowerBound)
    let steps = drawing.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
    XCTAssertLessThanOrEqual(steps.count, 30, "a newcomer must be able to follow it")
    XCTAssertGreaterThan(steps.count, 20)
    var before = ""
    for step in steps {
      let (path, function) = (step[0], step[1].trimmingCharacters(in: .whitespaces))
      let text = try String(contentsOf: root.appending(path: "Sources/" + path), encoding: .utf8)
      let declaration = function == "init" ? #"\binit[?(<]"# : #"func "# + function + #"[(<]"#
      XCTAssertNotNil(try Regex(declaration).firstMatch(in: text), "\(path) has no \(function)")
      let type = try XCTUnwrap(
        URL(filePath: path).deletingPathExtension().lastPathComponent.split(separator: "+").first)
      XCTAssertTrue(
        before.isEmpty || before.contains(type) || before.contains("\(function)(") || before.contains(".\(function)"),
        "nothing above leads to \(path) \(function)")
      before += text
    }
  }
}
