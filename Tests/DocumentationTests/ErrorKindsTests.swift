import Foundation
import NetLayer
import XCTest

/// The guide to errors lists every kind of error.
final class ErrorKindsTests: XCTestCase {
  func test_guideListsEveryKindOfError() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/NetLayer")
      .standardized
    let code = try String(
      contentsOf: sources.appending(path: "../HTTPTransport/NetworkError+Kind.swift"), encoding: .utf8)
    let guide = try String(contentsOf: sources.appending(path: "NetLayer.docc/WhenCallsFail.md"), encoding: .utf8)
    let kinds = code.matches(of: /public static let (\w+) = Kind/).map { String($0.1) }
    XCTAssertTrue(kinds.contains(NetworkError.Kind.tooLarge.rawValue), "\(kinds)")
    let chinese = try String(contentsOf: sources.appending(path: "../../docs/zh/when-calls-fail.md"), encoding: .utf8)
    let table = chinese.split(separator: "\n").filter { $0.hasPrefix("| `") }.joined()
    for kind in kinds {
      XCTAssertTrue(guide.contains("``/HTTPTransport/NetworkError/Kind/\(kind)``"), kind)
      XCTAssertTrue(table.contains("`\(kind)`"), kind)
    }
  }
}
