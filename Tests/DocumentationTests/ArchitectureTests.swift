import Foundation
import XCTest

/// The path of a call in docs/architecture.md matches the code.
final class ArchitectureTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

  func test_filesInTheTableOfSubjectsExist() throws {
    let page = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
    let behind = try XCTUnwrap(page.range(of: "## Where things go")).upperBound
    let section = page[behind...].prefix(upTo: try XCTUnwrap(page[behind...].range(of: "\n## ")).lowerBound)
    let files = section.matches(of: /`([A-Za-z0-9\/+]+\.swift)`/).map { String($0.1) }
    XCTAssertGreaterThan(files.count, 20)
    for file in files {
      XCTAssert(FileManager.default.fileExists(atPath: root.appending(path: "Sources/" + file).path), file)
    }
  }

  func test_textBecomesAURLInOnePlace() throws {
    let sources = root.appending(path: "Sources")
    let files = try XCTUnwrap(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var found: [String] = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      // A literal has no invalid characters.
      let hits = text.matches(of: #/URL\(string: [^"]/#).count + (text.contains(/URL\(dataRepresentation/) ? 1 : 0)
      if hits > 0 { found.append(file.lastPathComponent) }
    }
    XCTAssertEqual(found, [], "use URL(text:), which keeps escapes")
  }

  func test_pathOfACallMatchesTheCode() throws {
    let page = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
    let behind = try XCTUnwrap(page.range(of: "<!-- the way of a call -->\n```\n")).upperBound
    let drawing = page[behind...].prefix(upTo: try XCTUnwrap(page[behind...].range(of: "```")).lowerBound)
    var texts: [String: String] = [:]
    // The files of each way; a section whose title names neither belongs to both.
    var files: [String: Set<String>] = ["fetch": [], "json": []]
    var ways = ["fetch", "json"]
    for row in drawing.split(separator: "\n") {
      guard row.contains(".swift") else {
        ways = row.hasPrefix("Only ") ? [String(row.dropFirst(5))] : ["fetch", "json"]
        continue
      }
      let words = row.split(separator: " ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ":")) }
      let (path, function) = (words[0], words[1])
      let name = URL(filePath: path).deletingPathExtension().lastPathComponent
      for way in ways { files[way]?.insert(path) }
      let text = try String(contentsOf: root.appending(path: "Sources/" + path), encoding: .utf8)
      let declaration = function == "init" ? #"\binit[?(<]"# : #"(func|static let) `?"# + function + #"`?[(<:]"#
      XCTAssertNotNil(try Regex(declaration).firstMatch(in: text), "\(path) has no \(function)")
      // Without comments and declarations, only calls remain.
      texts[name] = text.replacing(#/\/\/[^\n]*/#, with: "").replacing("func ", with: "func_")
      guard words.count > 3, words[2] == "<" else { continue }
      let caller = try XCTUnwrap(texts[words[3]], "\(words[3]), which calls \(name), is not further up")
      let type = String(name.prefix { $0 != "+" })
      let call = ["init", "callAsFunction"].contains(function) ? #"\b\#(type)\("# : #"\b\#(function)\b"#
      XCTAssertNotNil(
        try Regex(call).wordBoundaryKind(.simple).firstMatch(in: caller),
        "\(words[3]) does not call \(name) \(function)")
    }
    XCTAssertEqual(files.mapValues(\.count), ["fetch": 26, "json": 28], "a newcomer must be able to follow it")
  }
}
