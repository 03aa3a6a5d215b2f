import Foundation
import XCTest

@testable import HTTPTransport

final class FileStatusTests: XCTestCase {
  func test_isDirectory_isTrueForDirectoriesAndLinksToThem() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (file, link) = (folder.appending(path: "file"), folder.appending(path: "link"))
    try Data(count: 1).write(to: file)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    XCTAssertTrue(isDirectory(folder.path))
    XCTAssertTrue(isDirectory(link.path))
    XCTAssertFalse(isDirectory(file.path))
    XCTAssertFalse(isDirectory(file.path + ".missing"))
  }
}
