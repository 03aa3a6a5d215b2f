import Foundation
import PortableFoundation
import TestSupport
import XCTest

@testable import DurableFiles

/// Files that survive: damage, other users, other processes, and unfinished files.
final class DurableFileTests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)")
  private var url: URL { folder.appending(path: "note") }

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  func test_format_isThatOfEarlierVersions() {
    // Eight digits, also with zeros at the start.
    for number in 0..<50 {
      let content = Data("\(number)".utf8)
      let line = String(decoding: DurableFile.framed(content).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      XCTAssertNotNil(line.wholeMatch(of: /NLfile1 [0-9a-f]{8} [12]/), line)
    }
    // The check value of CRC-32/ISO-HDLC.
    XCTAssertEqual(DurableFile.framed(Data("123456789".utf8)), Data("NLfile1 cbf43926 9\n123456789".utf8))
  }

  func test_aLock_isNotThatOfALink() throws {
    let target = folder.appending(path: "target")
    try Data().write(to: target)
    try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
    XCTAssertThrowsError(try openLocked(url.path)) { error in XCTAssertEqual((error as? POSIXError)?.code, .ELOOP) }
    let lock = try XCTUnwrap(openLocked(target.path))
    XCTAssertNil(try openLocked(target.path), "another open file has the lock")
    closeDescriptor(lock)
  }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

  func test_content_isReadAsWritten_andReplaced() throws {
    let file = try DurableFile(url)
    XCTAssertNil(try file.read())
    for content in [Data(), Data("{}".utf8), Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })] {
      try file.write(content)
      XCTAssertEqual(try file.read()?.content, .intact(content))
      XCTAssertEqual(try file.read()?.isOwn, true)
      XCTAssertEqual(try names(), ["note"])
    }
    let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    XCTAssertEqual(mode, 0o600)
    try file.remove()
    try file.remove()
    XCTAssertEqual(try names(), [])
  }

  func test_fileOfExactlyTheLimit_isRead() throws {
    let directory = try DurableDirectory(path: folder.path)
    try directory.write(Data(count: 10), as: "a")
    XCTAssertEqual(try directory.read("a", limit: 10)?.bytes.count, 10)
    XCTAssertThrowsError(try directory.read("a", limit: 9)) { XCTAssertEqual(($0 as? POSIXError)?.code, .EFBIG) }
  }

  func test_everyTruncation_isRecognized() {
    let bytes = DurableFile.framed(Data(#"{"access":"a"}"#.utf8))
    for count in 0..<bytes.count {
      let found = DurableFile.content(of: bytes.prefix(count))
      XCTAssertEqual(found, .damaged, "the first \(count) bytes")
    }
    for extra in [[UInt8](repeating: 0, count: 1), Array("x".utf8)] {
      XCTAssertEqual(DurableFile.content(of: bytes + extra), .damaged, "\(extra) after the end")
    }
  }

  func test_everyFlippedBit_isRecognized() {
    for content in [Data(), Data(#"{"access":"a"}"#.utf8)] {
      let bytes = DurableFile.framed(content)
      for place in bytes.indices {
        for bit in 0..<8 {
          var flipped = bytes
          flipped[place] ^= 1 << UInt8(bit)
          XCTAssertEqual(DurableFile.content(of: flipped), .damaged, "bit \(bit) of byte \(place)")
        }
      }
    }
  }

  func test_zeroedBytes_areRecognized() {
    let bytes = DurableFile.framed(Data(#"{"access":"a"}"#.utf8))
    for place in bytes.indices.dropFirst(8) {
      let zeroed = bytes.prefix(place) + Data(count: bytes.count - place)
      XCTAssertEqual(DurableFile.content(of: zeroed), .damaged, "zeros from byte \(place)")
    }
  }

  func test_filesOfOtherPrograms_areUnknown_andJSONOfEarlierVersionsIsRead() {
    for text in ["my own", "Dear diary", "\u{0}\u{0}\u{0}\u{0}\u{0}"] {
      XCTAssertEqual(DurableFile.content(of: Data(text.utf8)), .unknown, text)
    }
    XCTAssertEqual(DurableFile.content(of: Data("{}".utf8)), .intact(Data("{}".utf8)))
  }

  func test_fileThatAnotherUserMayHaveWritten_isNotOwn() throws {
    let file = try DurableFile(url)
    for (mode, isOwn) in [(0o600, true), (0o644, true), (0o620, false), (0o602, false)] {
      try file.write(Data("a".utf8))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
      XCTAssertEqual(try file.read()?.isOwn, isOwn, String(mode, radix: 8))
    }
    try file.write(Data("a".utf8))
    try FileManager.default.linkItem(at: url, to: folder.appending(path: "other"))
    XCTAssertEqual(try file.read()?.isOwn, true, "a second name, such as in a backup")
    try file.remove()
    try FileManager.default.createSymbolicLink(at: url, withDestinationURL: folder.appending(path: "other"))
    XCTAssertThrowsError(try file.read(), "a symbolic link")
    try file.remove()
    XCTAssertEqual(mkfifo(url.path, 0o600), 0)
    XCTAssertEqual(try file.read()?.isOwn, false, "a FIFO, without waiting for its writer")
  }

  func test_unfinishedFile_isRemovedUnlessItsWriterIsAlive() throws {
    let directory = try DurableDirectory(path: folder.path)
    var new: DurableDirectory.NewFile? = try directory.create(Data("abc".utf8))
    let name = try XCTUnwrap(try names().first)
    XCTAssertTrue(DurableDirectory.isUnfinished(name))
    try Data().write(to: folder.appending(path: ".netlayer-new-\(UUID().uuidString)"))
    try Data().write(to: folder.appending(path: "new-ideas.txt"))
    try DurableDirectory(path: folder.path).sweep()
    XCTAssertEqual(try names(), [name, "new-ideas.txt"].sorted(), "only the file without a writer is gone")
    try new?.rename(to: "a")
    XCTAssertEqual(try names(), ["a", "new-ideas.txt"])
    new = try directory.create(Data())
    new = nil
    XCTAssertEqual(try names(), ["a", "new-ideas.txt"], "a file that was not renamed is removed")
  }

  func test_unfinishedFileOfAKilledProcess_isRemovedByTheNextWrite_andByARemoval() throws {
    let file = try DurableFile(url)
    for change in [{ try file.write(Data("a".utf8)) }, file.remove] {
      try Data("secret".utf8).write(to: folder.appending(path: ".netlayer-new-\(UUID().uuidString)"))
      try change()
      XCTAssertFalse(try names().contains(where: DurableDirectory.isUnfinished))
    }
    // A file with a second name was not written by this program.
    let other = folder.appending(path: ".netlayer-new-\(UUID().uuidString)")
    try Data("own".utf8).write(to: other)
    try FileManager.default.linkItem(at: other, to: folder.appending(path: "linked"))
    try file.write(Data("b".utf8))
    XCTAssertEqual(try names(), ["linked", other.lastPathComponent, "note"].sorted())
  }

  func test_filesAreWritten_whileOthersSweep() throws {
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { [folder] worker in
      do {
        let directory = try DurableDirectory(path: folder.path)
        for round in 0..<50 {
          if worker < 2 {
            try directory.write(Data("\(round)".utf8), as: "file\(worker)")
          } else {
            try directory.sweep()
          }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    XCTAssertEqual(failures.withLock { $0 }, [])
    XCTAssertEqual(try names(), ["file0", "file1"])
  }

  /// A file that is not synced is created and renamed often enough to be swept before its writer has the lock.
  func test_aFileThatIsSweptBeforeItIsLocked_isCreatedAgain() throws {
    let isOver = Locked(false)
    let swept = expectation(description: "swept")
    let directory = try DurableDirectory(path: folder.path)
    try DetachedThread.start("sweeps") {
      while !isOver.withLock({ $0 }) { try? directory.sweep() }
      swept.fulfill()
    }
    for _ in 0..<2000 { XCTAssertNoThrow(try directory.create(Data(), isCache: true).rename(to: "note")) }
    isOver.withLock { $0 = true }
    wait(for: [swept], timeout: 60)
    XCTAssertEqual(try names(), ["note"])
  }

  func test_lock_hasOneOwner_untilItIsReleased() throws {
    var first: DurableDirectory? = try DurableDirectory(path: folder.path, marker: "lock")
    XCTAssertThrowsError(try DurableDirectory(path: folder.path, marker: "lock")) { error in
      XCTAssertEqual((error as? POSIXError)?.code, .EWOULDBLOCK)
    }
    XCTAssertEqual(first?.isLocked, true)
    first = nil
    let second = try DurableDirectory(path: folder.path, marker: "lock")
    try FileManager.default.removeItem(at: folder)
    XCTAssertFalse(second.isLocked)
    XCTAssertThrowsError(try second.write(Data(), as: "a"))
  }

  func test_lockWhoseFileIsRemovedOrReplaced_isNone() throws {
    XCTAssertFalse(try DurableDirectory(path: folder.path).isLocked)
    let first = try DurableDirectory(path: folder.path, marker: "lock")
    try FileManager.default.removeItem(at: folder.appending(path: "lock"))
    XCTAssertFalse(first.isLocked)
    let second = try DurableDirectory(path: folder.path, marker: "lock")
    XCTAssertEqual([first.isLocked, second.isLocked], [false, true])
  }

  func test_unusableDirectory_isNotChanged() throws {
    XCTAssertThrowsError(try DurableDirectory(path: folder.path, marker: "lock") { _ in false }) { error in
      XCTAssertEqual((error as? POSIXError)?.code, .EPERM)
    }
    XCTAssertEqual(try names(), [])
    let link = FileManager.default.temporaryDirectory.appending(path: "link-\(UUID().uuidString)")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    defer { try? FileManager.default.removeItem(at: link) }
    XCTAssertThrowsError(try DurableDirectory(path: link.path), "a symbolic link")
  }

  func test_onlyOwnLinks_areFollowedToADirectory() throws {
    let (link, next) = (folder.appending(path: "link"), folder.appending(path: "next"))
    try FileManager.default.createDirectory(at: folder.appending(path: "target"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: next.path, withDestinationPath: "target")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: next)
    XCTAssertEqual(DurableDirectory.followingOwnLinks(link.path), folder.appending(path: "target").path)
    XCTAssertEqual(DurableDirectory.followingOwnLinks(folder.path), folder.path)
    let cycle = folder.appending(path: "cycle")
    try FileManager.default.createSymbolicLink(at: cycle, withDestinationURL: cycle)
    XCTAssertThrowsError(try DurableDirectory(path: DurableDirectory.followingOwnLinks(cycle.path)))
    // Only the superuser can give files away.
    guard geteuid() == 0 else { return }
    XCTAssertEqual(lchown(next.path, 1, 1), 0)
    XCTAssertEqual(DurableDirectory.followingOwnLinks(link.path), next.path)
  }

  func test_missingFolder_isCreatedWithMode0700_alsoBehindAnOwnLink() throws {
    let file = try DurableFile(folder.appending(path: "a/b/note"))
    try file.write(Data("x".utf8))
    let lock = try XCTUnwrap(try file.lock())
    XCTAssertNil(try file.lock(), "it is locked")
    closeDescriptor(lock)
    let (link, target) = (folder.appending(path: "link"), folder.appending(path: "c/d"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    try DurableFile(link.appending(path: "note")).write(Data("y".utf8))
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: target.path), ["note"])
    for name in ["a", "a/b", "c", "c/d"] { XCTAssertEqual(try mode(name), 0o700, name) }
    XCTAssertEqual(chmod(target.path, 0o755), 0)
    _ = try DurableFile(link.appending(path: "note"))
    XCTAssertEqual(try mode("c/d"), 0o755, "an existing folder keeps its mode")
  }

  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)[.posixPermissions] as? Int
  }

  func test_folderThatCannotBeCreated_isNamed() throws {
    let file = folder.appending(path: "file")
    try Data().write(to: file)
    for path in [file.path, file.path + "/a", "/dev/null/a/b"] {
      XCTAssertThrowsError(try DurableFile(URL(filePath: path + "/note")), path) { error in
        XCTAssertTrue("\(error)".hasPrefix("the folder \(path) can't be created: "), "\(error)")
      }
    }
  }

  func test_failedWrite_keepsTheOldFile() throws {
    let directory = try DurableDirectory(path: folder.path)
    try directory.write(Data("old".utf8), as: "a")
    try FileManager.default.createDirectory(at: folder.appending(path: "b"), withIntermediateDirectories: true)
    XCTAssertThrowsError(try directory.write(Data("new".utf8), as: "b"))
    XCTAssertEqual(try directory.read("a", limit: 9)?.bytes, Data("old".utf8))
    XCTAssertThrowsError(try directory.read("a", limit: 2)) { error in
      XCTAssertEqual((error as? POSIXError)?.code, .EFBIG)
    }
    XCTAssertEqual(try names(), ["a", "b"], "no unfinished file remains")
  }

  func test_write_syncsTheFileBeforeItGetsItsName_andTheDirectoryAfterwards() throws {
    let syncs = DiskSyncs(in: folder)
    try syncs.run {
      let file = try DurableFile(url)
      try file.write(Data("a".utf8))
      try file.write(Data("b".utf8))
      try file.remove()
    }
    XCTAssertEqual(
      syncs.all, ["file: new", "directory: note", "file: new, note", "directory: note", "directory: "])
  }

  func test_failedSync_isAnError_andAFileWithoutOneGetsNoName() throws {
    let syncs = DiskSyncs(in: folder)
    let directory = try syncs.run { try DurableDirectory(path: folder.path) }
    try directory.write(Data("old".utf8), as: "a")
    func assertFails(_ body: () throws -> Void, line: UInt = #line) {
      XCTAssertThrowsError(try body(), line: line) { error in
        XCTAssertEqual((error as? POSIXError)?.code, .EIO, line: line)
      }
    }
    syncs.failing.value = "file"
    assertFails { try directory.write(Data("new".utf8), as: "a") }
    XCTAssertEqual(try directory.read("a", limit: 9)?.bytes, Data("old".utf8))
    syncs.failing.value = "directory"
    assertFails { try directory.write(Data("new".utf8), as: "a") }
    assertFails { try directory.removeDurably("a") }
    XCTAssertEqual(try names(), [])
  }

  func test_descriptors_areClosed_alsoAfterErrors() throws {
    let file = try DurableFile(url)
    try file.write(Data("a".utf8))
    let isOwn = { (_: Int32) in false }
    let steps: [(String, () throws -> Void)] = [
      ("directory", { _ = try DurableDirectory(path: self.folder.path) }),
      ("lock", { _ = try DurableDirectory(path: self.folder.path, marker: "lock") }),
      (
        "second lock",
        {
          let first = try DurableDirectory(path: self.folder.path, marker: "lock")
          XCTAssertThrowsError(try DurableDirectory(path: self.folder.path, marker: "lock"))
          withExtendedLifetime(first) {}
        }
      ),
      ("unusable", { XCTAssertThrowsError(try DurableDirectory(path: self.folder.path, isUsable: isOwn)) }),
      ("new file", { _ = try DurableDirectory(path: self.folder.path).create(Data("x".utf8)) }),
      ("write", { try file.write(Data("b".utf8)) }), ("read", { _ = try file.read() }),
      ("too long", { XCTAssertThrowsError(try DurableFile(self.url, limit: 1).read()) }),
      (
        "sweep",
        {
          try Data().write(to: self.folder.appending(path: ".netlayer-new-\(UUID().uuidString)"))
          try DurableDirectory(path: self.folder.path).sweep()
        }
      ),
      ("size", { XCTAssertNotNil(fileSize(self.url.path)) }),
    ]
    for (name, step) in steps { XCTAssertTrue(try closesDescriptors { _ in try step() }, name) }
  }
}
