import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The directories and files that an outbox accepts: those that nobody but the user can change.
final class OutboxDirectoryTests: XCTestCase {
  func test_outbox_fileWithASecondName_isSent() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    try outbox.send(AddNote(text: "1"), lane: "k")
    try outbox.send(AddNote(text: "2"), lane: "k")
    fixture.close()
    // As by `cp -al`.
    let backup = URL(filePath: NSTemporaryDirectory()).appending(path: "backup-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: backup, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: backup) }
    let names = fixture.files
    for name in names { try FileManager.default.linkItem(at: fixture.file(name), to: backup.appending(path: name)) }
    try fixture.open()
    fixture.waits(forResults: ["200 \(body("1"))", "200 \(body("2"))"])
    XCTAssertEqual(fixture.problems.all, [])
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: backup.path).sorted(), names.sorted())
  }

  func test_outbox_serverOnTheLocalMachine_needsNoNetwork() throws {
    let fixture = try OutboxFixture(self)
    let monitor = SystemReachability(fixed: false)
    let outbox = try Outbox(storingIn: fixture.folder, on: fixture.network, reachability: monitor)
    _ = outbox.results.subscribe(onNext: { [results = fixture.results] in results.add(OutboxFixture.text($0)) })
    outbox.start()
    try outbox.send(AddNote(text: "1"), lane: "k")
    fixture.waits(forResults: ["200 \(body("1"))"])
  }

  func test_outbox_ownLinkToADirectory_isFollowed() throws {
    let fixture = try OutboxFixture(self)
    let target = URL(filePath: NSTemporaryDirectory()).appending(path: "target-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: target) }
    // The target is created, as a directory would be.
    try FileManager.default.createSymbolicLink(at: fixture.folder, withDestinationURL: target)
    try fixture.open(starts: false).send(AddNote(text: "1"))
    XCTAssertEqual(
      try FileManager.default.contentsOfDirectory(atPath: target.path).count { $0 != OutboxDirectory.marker }, 1)
    fixture.close()
    try fixture.open()
    fixture.waits(forResults: ["200 \(body("1"))"])
    fixture.close()
    // Only the superuser can give files away.
    guard geteuid() == 0 else { return }
    XCTAssertEqual(lchown(fixture.folder.path, 1, 1), 0)
    XCTAssertThrowsError(try fixture.open()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .file) }
  }

  func test_outbox_directoryThatOthersMayChange_isRefused() throws {
    for mode in [0o770, 0o720, 0o702, 0o1777] {
      let fixture = try OutboxFixture(self)
      try FileManager.default.createDirectory(
        at: fixture.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
      XCTAssertEqual(chmod(fixture.folder.path, mode_t(mode)), 0)
      XCTAssertThrowsError(try fixture.open(), String(mode, radix: 8)) { error in
        let reason = (error as? NetworkError)?.reason ?? ""
        XCTAssertEqual((error as? NetworkError)?.kind, .file)
        XCTAssert(reason.contains(fixture.folder.path) && reason.contains("chmod go-w"), reason)
      }
      XCTAssertEqual(chmod(fixture.folder.path, 0o755), 0)
      XCTAssertNoThrow(try fixture.open())
    }
  }
}
