import Foundation
import PortableFoundation
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The directories and files that an outbox accepts: those that nobody but the user can change.
final class OutboxDirectoryTests: XCTestCase {
  func test_outbox_fileWithASecondName_isSent() throws {
    let fixture = try OutboxFixture(self)
    try fixture.open(starts: false).send(AddNote(text: "1"), lane: "k")
    try fixture.outbox?.send(AddNote(text: "2"), lane: "k")
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

  // MARK: The syncs to disk

  func test_outbox_row_01_entryIsOnDisk_whenSendReturns() throws {
    let fixture = try OutboxFixture(self)
    let syncs = DiskSyncs(in: fixture.folder)
    let outbox = try syncs.run { try fixture.open(starts: false) }
    try outbox.send(AddNote(text: "tea"))
    let name = try XCTUnwrap(fixture.files.first)
    let marker = OutboxDirectory.marker
    XCTAssertEqual(syncs.all, ["file: new, \(marker)", "directory: \(name), \(marker)"])
  }

  func test_outbox_row_36_parkingAndRemoval_areOnDisk() throws {
    let fixture = try OutboxFixture(self)
    let syncs = DiskSyncs(in: fixture.folder)
    let outbox = try syncs.run { try fixture.open(starts: false) }
    fixture.server.script(.status(422))
    let id = try outbox.send(AddNote(text: "tea"))
    let name = try XCTUnwrap(fixture.files.first)
    outbox.start()
    fixture.waits(for: ["tea: parked (status 422)"])
    try outbox.drop(id)
    fixture.waits(for: [])
    let marker = OutboxDirectory.marker
    XCTAssertEqual(syncs.all.dropFirst(2), ["directory: \(name)+422, \(marker)", "directory: \(marker)"])
  }

  func test_outbox_row_03_failedSyncs_throwAndStoreNothing() throws {
    let fixture = try OutboxFixture(self)
    let syncs = DiskSyncs(in: fixture.folder)
    let outbox = try syncs.run { try fixture.open(limits: Outbox.Limits(maxEntries: 1, maxSize: 2000)) }
    // The failed entries leave their room to others, also those that had their names already.
    for kind in ["file", "directory"] {
      syncs.failing.value = kind
      for _ in 0..<10 {
        XCTAssertThrowsError(try outbox.send(AddNote(text: "lost")), kind) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .file)
          XCTAssertEqual(SystemError.code(of: (error as? NetworkError)?.underlying ?? error), EIO)
        }
        XCTAssertEqual(fixture.files, [], kind)
      }
    }
    syncs.failing.value = nil
    try outbox.send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("tea")])
  }

  func test_outbox_changeThatFails_isNotKnown() throws {
    let fixture = try OutboxFixture(self)
    try fixture.open(starts: false).send(AddNote(text: "tea"))
    let (app, other) = (try OutboxDirectory(fixture.folder), try OutboxDirectory(fixture.folder))
    let file = try XCTUnwrap(app.refresh()?.first)
    // Another process has removed the file meanwhile.
    try other.remove(file)
    XCTAssertThrowsError(try app.rename(file, .parked(status: 422)))
    XCTAssertThrowsError(try app.setAside(file))
    XCTAssertEqual(app.file(of: file.name.id), file)
    // A file that can't be removed.
    try FileManager.default.createDirectory(at: fixture.file(file.text), withIntermediateDirectories: false)
    XCTAssertThrowsError(try app.remove(file))
    XCTAssertEqual(app.file(of: file.name.id), file)
    try FileManager.default.removeItem(at: fixture.file(file.text))
    try app.remove(file)
    XCTAssertNil(app.file(of: file.name.id))
    // A damaged file does not count, even before the next listing.
    try fixture.open(starts: false).send(AddNote(text: "rice"))
    let damaged = try XCTUnwrap(app.refresh(lists: true)?.first)
    XCTAssertEqual(app.count, 1)
    _ = try app.setAside(damaged)
    XCTAssertEqual(app.count, 0)
    XCTAssertNil(app.file(of: damaged.name.id))
    XCTAssertEqual([app.count, other.count], [0, 0])
  }

  func test_outbox_writeThatFails_isNotKnown() throws {
    let fixture = try OutboxFixture(self)
    try fixture.open(starts: false).send(AddNote(text: "tea"))
    let syncs = DiskSyncs(in: fixture.folder)
    let directory = try syncs.run { try OutboxDirectory(fixture.folder) }
    let file = try XCTUnwrap(directory.refresh()?.first)
    guard case .entry(let entry) = directory.read(file) else { return XCTFail("it can't be read") }
    let name = OutboxName(9, UUID())
    for (kind, count) in [("file", 1), ("directory", 1), (nil, 2)] {
      syncs.failing.value = kind
      if kind == nil {
        try directory.write(entry, as: name)
      } else {
        XCTAssertThrowsError(try directory.write(entry, as: name))
      }
      XCTAssertEqual(directory.count, count)
      XCTAssertEqual(directory.last?.number, kind == nil ? 9 : file.name.number)
    }
  }

  func test_outbox_names_areReadByteByByte() throws {
    let name = OutboxName(
      0x0123_4567_89ab_cdef, try XCTUnwrap(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")))
    XCTAssertEqual(OutboxName.read(name.text)?.name, name)
    for (index, byte) in name.text.utf8.enumerated() {
      // Bytes next to those of digits, letters and dashes, and letters of the other case.
      let isDigit = byte != UInt8(ascii: "-")
      for other in ["/", ":", "@", "G", "`", "g", ".", "_", "\0", isDigit ? "-" : "0", index < 16 ? "A" : "a"] {
        var bytes = Array(name.text.utf8)
        bytes[index] = Array(other.utf8)[0]
        XCTAssertNil(OutboxName.read(String(decoding: bytes, as: UTF8.self)), "\(other.debugDescription) at \(index)")
      }
    }
    for hold in ["+0", "+-1", "+200", "+parked"] { XCTAssertNotNil(OutboxName.read(name.text + hold), hold) }
    for hold in ["+", "+00", "++1", "+1 ", "-200", "200", "+Parked", "+99999999999999999999"] {
      XCTAssertNil(OutboxName.read(name.text + hold), hold)
    }
    XCTAssertLessThan(OutboxName(1, UUID()), OutboxName(2, UUID()))
    let ids = [UUID(), UUID()].sorted { $0 < $1 }
    XCTAssertLessThan(OutboxName(1, ids[0]), OutboxName(1, ids[1]))
    XCTAssertFalse(OutboxName(2, ids[0]) < OutboxName(1, ids[1]))
  }

  func test_outbox_descriptors_areClosed() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let id = try outbox.send(AddNote(text: "tea"))
    let directory = try OutboxDirectory(fixture.folder)
    let file = try XCTUnwrap(try directory.files().first)
    let steps: [(String, (Int) throws -> Void)] = [
      ("outbox", { _ in _ = try fixture.another() }), ("contains", { _ in XCTAssertTrue(directory.contains(file)) }),
      ("missing", { _ in XCTAssertFalse(directory.contains(.init(name: OutboxName(9, UUID()), hold: nil))) }),
      ("counter", { _ in XCTAssertTrue(try OutboxDirectory(fixture.folder).contains(id)) }),
      ("read", { _ in _ = directory.read(file) }),
      ("send and drop", { try outbox.drop(try outbox.send(AddNote(text: "\($0)"))) }),
    ]
    for (name, step) in steps { XCTAssertTrue(try closesDescriptors(step), name) }
  }
}
