import Foundation
import XCTest

/// The declaration of each lock has a comment that explains its purpose.
final class LocksTests: XCTestCase {
  func test_eachLockHasACommentAtItsDeclaration() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
    let files = try XCTUnwrap(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    // A stored property, or a local variable that closures share.
    let declaration = try Regex(
      #"^ {0,4}(?:(?:public|package|private|fileprivate|static|final|@\w+) )*(?:let|var) \w+.*[ (<](?:Locked|Mutex|Atomic|NSLock|Drain)\b"#
    )
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
      for (index, line) in lines.enumerated() where try declaration.firstMatch(in: line) != nil {
        count += 1
        let above = index > 0 ? lines[index - 1].trimmingCharacters(in: .whitespaces) : ""
        XCTAssertTrue(
          line.contains("//") || above.hasPrefix("//"),
          "\(file.lastPathComponent):\(index + 1) says nothing: \(line.trimmingCharacters(in: .whitespaces))")
      }
    }
    XCTAssertGreaterThan(count, 60)
  }
}
