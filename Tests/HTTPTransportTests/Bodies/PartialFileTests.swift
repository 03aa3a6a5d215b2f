import Foundation
import HTTPTransport
import NetLayer
import TestSupport
import XCTest

final class PartialFileTests: XCTestCase {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "partial-\(UUID().uuidString)")

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  func test_twoLongFileNamesHaveSeparatePartialFiles() throws {
    let start = String(repeating: "n", count: 254)
    let partial = try ["1", "2"].map { try PartialFile(resuming: directory.appending(path: start + $0)) }
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path).count, 2)
    partial.forEach { $0.letGo() }
  }

  func test_bytesNextToAnEmptyNote_belongToAnotherProgram() throws {
    let (part, note) = (directory.appending(path: "a.part"), directory.appending(path: "a.part.json"))
    try Data("mine".utf8).write(to: part)
    try Data().write(to: note)
    XCTAssertThrowsError(try PartialFile(resuming: directory.appending(path: "a"))) { error in
      XCTAssertTrue("\(error)".contains("does not belong to a download"), "\(error)")
    }
    XCTAssertEqual(try Data(contentsOf: part), Data("mine".utf8))
  }

  func test_bytesNextToADamagedNote_areReplaced() throws {
    let destination = directory.appending(path: "a")
    let first = try PartialFile(resuming: destination)
    try first.restart(.init(validator: "\"1\""))
    try first.append(Data("old".utf8))
    first.letGo()
    let note = directory.appending(path: "a.part.json")
    try Data(contentsOf: note).dropLast().write(to: note)
    let second = try PartialFile(resuming: destination)
    XCTAssertEqual(second.count, 0)
    XCTAssertNil(second.note)
    try second.append(Data("new".utf8))
    try second.complete()
    XCTAssertEqual(try Data(contentsOf: destination), Data("new".utf8))
  }

  /// A cleaner of unknown files, or a user, removes the partial file of a download that is running.
  func test_partialFileOfAnotherDownload_isNeitherTakenNorRemoved() throws {
    let destination = directory.appending(path: "a")
    let first = try PartialFile(resuming: destination)
    try first.restart(.init(validator: "\"1\""))
    try first.append(Data("whole".utf8))
    try FileManager.default.removeItem(at: directory.appending(path: "a.part"))
    let second = try PartialFile(resuming: destination)
    try second.restart(.init(validator: "\"1\""))
    try second.append(Data("who".utf8))
    XCTAssertThrowsError(try first.complete()) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssert("\(error)".contains("was removed or replaced during the download"), "\(error)")
    }
    first.discard()
    first.letGo()
    XCTAssertFalse(FileManager.default.fileExists(atPath: destination.path))
    try second.append(Data("le".utf8))
    try second.complete()
    XCTAssertEqual(try Data(contentsOf: destination), Data("whole".utf8))
  }

  func test_descriptors_areClosed() throws {
    let file = directory.appending(path: "f")
    try Data("a".utf8).write(to: file)
    let steps: [(String, () throws -> Void)] = [
      ("body", { try BodyFile.check(file) }), ("folder", { XCTAssertThrowsError(try BodyFile.check(self.directory)) }),
      ("partial file", { try PartialFile(resuming: self.directory.appending(path: "p")).letGo() }),
    ]
    for (name, step) in steps { XCTAssertTrue(try closesDescriptors { _ in try step() }, name) }
  }

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

  func test_completeFile_isSyncedBeforeItGetsItsName() throws {
    let syncs = DiskSyncs(in: directory)
    let (whole, resumed) = (directory.appending(path: "a"), directory.appending(path: "b"))
    try syncs.run {
      let file = try PartialFile(whole)
      try file.append(Data("x".utf8))
      syncs.failing.value = "file"
      XCTAssertThrowsError(try file.complete()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .file) }
      XCTAssertEqual(FileManager.default.fileExists(atPath: whole.path), false)
      syncs.failing.value = nil
      try file.complete()
    }
    XCTAssertEqual(syncs.all.count, 2)
    XCTAssert(syncs.all.allSatisfy { $0.hasPrefix("file: .") && $0.hasSuffix(".part") }, "\(syncs.all)")
    try FileManager.default.removeItem(at: whole)
    try syncs.run {
      let file = try PartialFile(resuming: resumed)
      try file.restart(.init(validator: "\"1\""))
      try file.append(Data("x".utf8))
      try file.complete()
    }
    XCTAssertEqual(
      syncs.all.dropFirst(2),
      ["file: new, b.part", "directory: b.part, b.part.json", "file: b.part, b.part.json", "directory: b"])
  }
}
