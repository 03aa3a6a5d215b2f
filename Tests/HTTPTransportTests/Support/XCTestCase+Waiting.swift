import Foundation
import TestSupport
import XCTest

extension XCTestCase {
  /// Waits until `condition` holds, and fails after `seconds`.
  func until(
    _ seconds: Double = 10, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
  ) {
    if !holds(within: seconds, condition) { XCTFail("waited in vain", file: file, line: line) }
  }

  /// Creates a folder for Unix domain sockets, whose paths must be short, and removes it at the end of the test.
  func makeSocketFolder() throws -> String {
    let folder = "/tmp/netlayer-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
    return folder
  }
}
