import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import TestSupport
import XCTest

/// Tests of downloads to a full disk and to invalid destinations.
extension TransportSuite {
  func test_aDirectoryAsADestinationIsRejectedBeforeAnythingIsSent() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "folder-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: directory) }
    let before = server.requests.count
    for destination in [directory, try XCTUnwrap(URL(string: "http://h/x"))] {
      var request = request(.get, "/bytes/1000")
      request.destination = destination
      let error = try failure(request, .file)
      XCTAssertTrue(
        error.reason.contains(destination == directory ? "is a directory" : "must be a file URL"), error.reason)
      XCTAssertNotNil(error.request)
    }
    XCTAssertEqual(server.requests.count, before)
  }

  func test_twoConcurrentDownloadsToOneFileLeaveOneCompleteFile() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "downloads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    let counts = [300_000, 200_000]
    let pendingCalls = counts.map { count in
      var request = request(.get, "/bytes/\(count)")
      request.destination = folder.appending(path: "body")
      let pending = PendingCall(self)
      _ = pending.send(request, on: transport)
      return pending
    }
    for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().file?.lastPathComponent, "body") }
    XCTAssertTrue(counts.contains(try Data(contentsOf: folder.appending(path: "body")).count))
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["body"])
  }

  func test_aDownloadToAFullDiskFails_namesItsFileAndLeavesNothing() throws {
    let disk = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: disk) }
    try SmallDisk.mount(at: disk, for: self)
    let file = disk.appending(path: "body")
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: disk.path) }
    // The disk is full at the first write, in the middle of a long body, and with an existing file at the destination.
    for (path, old) in [("/bytes/100000", nil), ("/bytes/3000000", nil), ("/bytes/100000", "old")] {
      if let old { try Data(old.utf8).write(to: file) }
      var request = request(.get, path)
      request.destination = file
      let error = try failure(request, .file)
      XCTAssert(error.reason.contains(file.path), "\(path): \(error.reason)")
      XCTAssert(error.reason.contains("No space left"), "\(path): \(error.reason)")
      XCTAssertNotNil(error.metrics, "\(path)")
      XCTAssertEqual(try files(), old == nil ? [] : ["body"], "\(path)")
      if let old { XCTAssertEqual(try Data(contentsOf: file), Data(old.utf8)) }
    }
    // After space becomes available, the disk is used again.
    var small = request(.get, "/bytes/1000")
    small.destination = file
    XCTAssertEqual(try response(small).file, file)
    XCTAssertEqual(try Data(contentsOf: file).count, 1000)
    XCTAssertEqual(try files(), ["body"])
  }
}
