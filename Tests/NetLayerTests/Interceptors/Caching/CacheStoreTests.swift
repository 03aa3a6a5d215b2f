import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The storage of the cache in memory and on disk. Each test has its own directory.
final class CacheStoreTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "cache-\(UUID().uuidString)")
  private let problems = Problems()

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func open(memory: Int = 1 << 20, disk: Int = 1 << 20) -> ResponseCache {
    ResponseCache(storingIn: directory, maxMemorySize: memory, maxDiskSize: disk, clock: scheduler) { [problems] in
      problems.note($0)
    }
  }

  private func body(_ cache: ResponseCache, _ key: String, _ headers: HTTPHeaders = [:]) -> String? {
    let found: CacheEntry? =
      switch cache.find(key, for: headers) {
      case .now(let found): found?.entry
      case .later(let search): record(search).elements.first.flatMap { $0 }?.entry
      }
    return found.map { String(decoding: $0.body, as: UTF8.self) }
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).filter { $0 != DiskStore.marker }
  }

  private func path(_ name: String) -> URL { directory.appending(path: name) }

  func test_entry_isAvailableImmediately_andAfterARestart() {
    var cache: ResponseCache? = open()
    cache?.store(entry("1"), for: "a", headers: [:])
    XCTAssertEqual(cache.flatMap { body($0, "a") }, "1")
    XCTAssertEqual(cache?.settle().count, 1)
    cache = nil
    XCTAssertEqual(body(open(), "a"), "1")
  }

  func test_directory_isNotTouchedBeforeTheFirstUse() {
    _ = open()
    XCTAssertFalse(FileManager.default.fileExists(atPath: directory.path))
  }

  func test_files_areReadableOnlyByTheOwner_andHaveOpaqueNames() throws {
    let cache = open()
    cache.store(entry("1"), for: "http://h/secret", headers: [:])
    _ = cache.settle()
    func mode(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    XCTAssertEqual(try mode(directory), 0o700)
    XCTAssertEqual(files, [Hash.sha256(Data("http://h/secret".utf8)).hex])
    XCTAssertEqual(try files.map { try mode(path($0)) }, [0o600])
    XCTAssertNil(try Data(contentsOf: path(files[0])).range(of: Data("secret".utf8)))
  }

  func test_directoryReadableByOthers_isRestricted() throws {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    _ = open().settle()
    let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions] as? Int
    XCTAssertEqual(mode, 0o700)
  }

  func test_fifoInTheDirectory_doesNotBlock() throws {
    _ = open().settle()
    let fifo = path(String(repeating: "a", count: 64)).path
    XCTAssertEqual(mkfifo(fifo, 0o600), 0)
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    XCTAssertEqual(cache.settle().count, 1)
    XCTAssertFalse(FileManager.default.fileExists(atPath: fifo))
  }

  func test_directoryOfAnotherProgram_isNotTouched() throws {
    let names = [".netlayer-new-\(UUID().uuidString)", "new-chapter1.txt", String(repeating: "a", count: 64), "lock"]
    for contents in [Array(names.prefix(1)), Array(names.dropFirst(2).prefix(1)), names] {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      for name in contents { try Data("mine".utf8).write(to: path(name)) }
      let cache = open()
      cache.store(entry("1"), for: "a", headers: [:])
      XCTAssertEqual(cache.settle().count, 0, "\(contents)")
      XCTAssertEqual(body(cache, "a"), "1", "kept in memory")
      XCTAssertEqual(
        Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)), Set(contents), "\(contents)")
      let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions] as? Int
      XCTAssertEqual(mode, 0o755, "\(contents)")
      XCTAssertTrue(
        problems.reports.last?.contains("\(directory.path) contains files of other programs") == true, "\(contents)")
      try FileManager.default.removeItem(at: directory)
    }
  }

  func test_directoryOfAnotherUser_isNotUsed() throws {
    try XCTSkipIf(geteuid() != 0, "only the superuser can give a directory away")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    XCTAssertEqual(chown(directory.path, 1, 1), 0)
    XCTAssertEqual(open().settle().count, 0)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), [])
    XCTAssertTrue(problems.reports.last?.contains("belongs to another user") == true, "\(problems.reports)")
  }

  func test_sweep_removesLeftoversAndCorruptOrExpiredEntriesOnly() throws {
    var cache: ResponseCache? = open()
    for key in ["whole", "cut", "empty", "old", "flipped"] {
      cache?.store(entry(key, expiresAt: key == "old" ? 5 : .infinity), for: key, headers: [:])
    }
    _ = cache?.settle()
    cache = nil
    func file(_ key: String) -> URL { path(Hash.sha256(Data(key.utf8)).hex) }
    try Data(contentsOf: file("cut")).dropLast().write(to: file("cut"))
    try Data().write(to: file("empty"))
    var flipped = try Data(contentsOf: file("flipped"))
    flipped[flipped.count - 1] ^= 1
    try flipped.write(to: file("flipped"))
    try Data("x".utf8).write(to: path(".netlayer-new-\(UUID().uuidString)"))
    try Data("x".utf8).write(to: path("notes.txt"))
    scheduler.advanceBy(10)
    let again = open()
    XCTAssertEqual(again.settle().count, 2)
    XCTAssertEqual(Set(files), [file("whole").lastPathComponent, file("flipped").lastPathComponent, "notes.txt"])
    XCTAssertEqual(body(again, "whole"), "whole")
    XCTAssertNil(body(again, "flipped"), "found when it is read")
    XCTAssertEqual(Set(files), [file("whole").lastPathComponent, "notes.txt"])
  }

  func test_expiredEntry_isRemovedFromMemoryAndDisk() {
    let cache = open()
    cache.store(entry("1", expiresAt: 5), for: "a", headers: [:])
    scheduler.advanceBy(4)
    XCTAssertEqual(body(cache, "a"), "1")
    scheduler.advanceBy(1)
    XCTAssertNil(body(cache, "a"))
    XCTAssertEqual(cache.settle().count, 0)
    XCTAssertEqual(files, [])
  }

  func test_memory_holdsRecentEntries_andTheDiskTheRest() {
    let one = entry(String(repeating: "x", count: 1000))
    let cache = open(memory: one.cost * 2)
    for key in ["a", "b", "c"] { cache.store(one, for: key, headers: [:]) }
    _ = cache.settle()
    guard case .later = cache.find("a", for: [:]) else { return XCTFail("a must have left the memory") }
    guard case .now(.some) = cache.find("c", for: [:]) else { return XCTFail("c must be in memory") }
    XCTAssertNotNil(body(cache, "a"))
    guard case .now(.some) = cache.find("a", for: [:]) else { return XCTFail("a must be back in memory") }
  }

  func test_disk_holdsRecentEntries_alsoAcrossRestarts() {
    let size = 4096  // one block, the smallest size of a file
    var cache: ResponseCache? = open(memory: 0, disk: 3 * size)
    for key in ["a", "b", "c"] {
      cache?.store(entry("1234"), for: key, headers: [:])
      _ = cache?.settle()
    }
    XCTAssertEqual(cache.flatMap { body($0, "a") }, "1234")
    // Wait for the lookup to return, because it retains the cache, which holds the lock of the directory.
    _ = cache?.settle()
    cache = nil
    let again = open(memory: 0, disk: 3 * size)
    again.store(entry("1234"), for: "d", headers: [:])
    XCTAssertEqual(again.settle().bytes, 3 * size)
    XCTAssertNil(body(again, "b"), "of these, b was not used for the longest")
    XCTAssertEqual(["a", "c", "d"].map { body(again, $0) }, ["1234", "1234", "1234"])
    XCTAssertEqual(files.count, 3)
  }

  func test_entryLargerThanTheDisk_isNotStoredThere() {
    let cache = open(memory: 0, disk: 8192)
    cache.store(entry("small"), for: "a", headers: [:])
    cache.store(entry(String(repeating: "x", count: 9000)), for: "a", headers: [:])
    XCTAssertEqual(cache.settle().count, 0)
    XCTAssertNil(body(cache, "a"), "nor what it was to replace")
  }

  func test_removal_appliesToMemoryAndDisk() {
    let cache = open()
    for key in ["a", "b", "c"] { cache.store(entry(key), for: key, headers: [:]) }
    cache.remove("a")
    XCTAssertNil(body(cache, "a"))
    XCTAssertEqual(cache.settle().count, 2)
    cache.removeAll()
    XCTAssertNil(body(cache, "b"))
    XCTAssertEqual(cache.settle().count, 0)
    XCTAssertEqual(files, [])
  }

  func test_removal_removesAllVariants() {
    let varied: HTTPHeaders = ["Vary": "X"]
    let cache = open()
    cache.store(entry("1", headers: varied), for: "a", headers: ["X": "1"])
    cache.store(entry("2", headers: varied), for: "a", headers: ["X": "2"])
    XCTAssertEqual(body(cache, "a", ["X": "1"]), "1")
    XCTAssertEqual(body(cache, "a", ["X": "2"]), "2")
    cache.remove("a")
    cache.store(entry("3", headers: varied), for: "a", headers: ["X": "1"])
    _ = cache.settle()
    XCTAssertEqual(body(cache, "a", ["X": "1"]), "3")
    XCTAssertNil(body(cache, "a", ["X": "2"]))
  }

  func test_variants_outliveTheProcess() {
    var cache: ResponseCache? = open()
    cache?.store(entry("1", headers: ["Vary": "X"]), for: "a", headers: ["X": "1"])
    _ = cache?.settle()
    cache = nil
    let again = open()
    again.store(entry("2", headers: ["Vary": "X"]), for: "a", headers: ["X": "2"])
    _ = again.settle()
    XCTAssertEqual(body(again, "a", ["X": "1"]), "1")
    XCTAssertEqual(body(again, "a", ["X": "2"]), "2")
  }

  func test_secondCacheOnADirectory_usesOnlyMemory_andReportsItOnce() {
    let first = open()
    first.store(entry("1"), for: "a", headers: [:])
    _ = first.settle()
    let second = open()
    XCTAssertNil(body(second, "a"))
    second.store(entry("2"), for: "b", headers: [:])
    XCTAssertEqual(second.settle().count, 0)
    XCTAssertEqual(body(second, "b"), "2")
    XCTAssertEqual(first.settle().count, 1)
    let reports = problems.reports
    XCTAssertEqual(reports.count, 1)
    XCTAssertTrue(reports[0].contains("another cache uses"), reports[0])
  }

  func test_directoryThatCannotBeCreated_isReportedOnce_andMemoryIsUsed() throws {
    try Data().write(to: directory)
    let cache = open()
    for key in ["a", "b"] { cache.store(entry(key), for: key, headers: [:]) }
    _ = cache.settle()
    XCTAssertEqual(body(cache, "a"), "a")
    XCTAssertNil(body(cache, "c"))
    let reports = problems.reports
    XCTAssertEqual(reports.count, 1)
    XCTAssertTrue(reports[0].contains(directory.path), reports[0])
  }

  func test_linkInPlaceOfTheDirectory_isNotFollowed() throws {
    let target = URL(filePath: NSTemporaryDirectory()).appending(path: "target-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: target) }
    try FileManager.default.createSymbolicLink(at: directory, withDestinationURL: target)
    // Only the superuser can give files away.
    try XCTSkipUnless(geteuid() == 0 && lchown(directory.path, 1, 1) == 0, "only root can make a link of another user")
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    _ = cache.settle()
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: target.path), [])
  }

  func test_ownLinkInPlaceOfTheDirectory_isFollowed() throws {
    let target = URL(filePath: NSTemporaryDirectory()).appending(path: "target-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: target) }
    try FileManager.default.createSymbolicLink(at: directory, withDestinationURL: target)
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    _ = cache.settle()
    XCTAssertEqual(problems.reports, [])
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: target.path).count, 2, "an entry and the marker")
  }

  func test_removedDirectory_isCreatedAgain_andMemoryIsUsed() throws {
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    _ = cache.settle()
    try FileManager.default.removeItem(at: directory)
    for key in ["b", "c"] { cache.store(entry(key), for: key, headers: [:]) }
    XCTAssertEqual(cache.settle().count, 2)
    XCTAssertEqual(["a", "b", "c"].map { body(cache, $0) }, ["1", "b", "c"])
    XCTAssertEqual(problems.reports, [])
  }

  func test_fullDisk_isReportedOnce_andMemoryIsUsed() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try SmallDisk.mount(at: directory, for: self)
    let large = String(repeating: "x", count: 20000)
    func check(_ cache: ResponseCache) -> Int {
      let kept = (0..<10).filter { number in
        let found = body(cache, "\(number)")
        XCTAssertTrue(found == nil || found == large + "\(number)", "an answer is whole or not there")
        return found != nil
      }
      return kept.count
    }
    var cache: ResponseCache? = open()
    for number in 0..<10 { cache?.store(entry(large + "\(number)"), for: "\(number)", headers: [:]) }
    _ = cache?.settle()
    XCTAssertEqual(cache.map(check), 10, "all are in memory")
    XCTAssertEqual(problems.reports.count, 1)
    XCTAssertTrue(problems.reports[0].contains("No space left"), problems.reports[0])
    XCTAssertFalse(files.contains { DurableDirectory.isUnfinished($0) })
    // An old entry must not remain when its replacement could not be written.
    for number in 0..<10 {
      cache?.store(entry(large + large + large + large + "\(number)"), for: "\(number)", headers: [:])
    }
    _ = cache?.settle()
    XCTAssertEqual(files, [])
    for number in 0..<2 { cache?.store(entry(large + "\(number)"), for: "\(number)", headers: [:]) }
    _ = cache?.settle()
    cache = nil
    XCTAssertEqual(check(open()), 2, "and when there is room again, the disk is used")
  }

  func test_concurrentReadersAndWriters_seeOnlyCompleteEntries() {
    let cache = open(memory: 4000, disk: 20000)
    let keys = (0..<20).map { "\($0)" }
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      for round in 0..<60 {
        let key = keys[(worker * 7 + round) % keys.count]
        switch round % 5 {
        case 0, 1: cache.store(entry("\(key)|" + String(repeating: key, count: round * 5)), for: key, headers: [:])
        case 2 where round % 3 == 0: cache.remove(key)
        case 3 where round % 20 == 3: cache.removeAll()
        default:
          let check: @Sendable (CacheEntry?) -> Void = { entry in
            guard let entry else { return }
            XCTAssertTrue(String(decoding: entry.body, as: UTF8.self).hasPrefix("\(key)|"))
          }
          switch cache.find(key, for: [:]) {
          case .now(let found): check(found?.entry)
          case .later(let search): _ = search.subscribe(onSuccess: { check($0?.entry) })
          }
        }
      }
    }
    XCTAssertLessThanOrEqual(cache.settle().bytes, 20000)
    XCTAssertEqual(problems.reports, [])
  }

  func test_entryReadBeforeAChange_doesNotReplaceIt() {
    let cache = open(memory: 100_000)
    for round in 0..<40 {
      cache.store(entry("old \(round)"), for: "a", headers: [:])
      _ = cache.settle()
      // Evict `a` from memory, so that the lookup reads the disk. The change occurs during the lookup.
      for filler in 0..<3 {
        cache.store(entry(String(repeating: "x", count: 40000)), for: "filler \(filler)", headers: [:])
      }
      guard case .later(let search) = cache.find("a", for: [:]) else { return XCTFail("a must be on disk only") }
      let done = expectation(description: "searched")
      let subscription = search.subscribe(onSuccess: { _ in done.fulfill() })
      cache.store(entry("new \(round)"), for: "a", headers: [:])
      wait(for: [done], timeout: 60)
      subscription.dispose()
      XCTAssertEqual(body(cache, "a"), "new \(round)")
    }
  }

  func test_descriptors_areClosed() throws {
    let token = URL(filePath: NSTemporaryDirectory()).appending(path: "token-\(UUID().uuidString)")
    let tokens = FileTokenStore(storingIn: token)
    defer {
      for file in [token, token.appendingPathExtension("lock")] { try? FileManager.default.removeItem(at: file) }
    }
    // The lock of a former cache is released by its queue, a moment later.
    func opened() -> ResponseCache? {
      var cache: ResponseCache?
      _ = holds {
        cache = open(memory: 0)
        return cache?.settle().count == 1
      }
      return cache
    }
    func store() -> Int {
      let cache = open()
      cache.store(entry("1"), for: "a", headers: [:])
      return cache.settle().count
    }
    XCTAssertEqual(store(), 1)
    let cache = Box(try XCTUnwrap(opened()) as ResponseCache?)
    let steps: [(String, () throws -> Void)] = [
      ("read", { XCTAssertEqual(cache.value.flatMap { self.body($0, "a") }, "1") }),
      (
        "sweep",
        {
          cache.value = nil
          cache.value = opened()
          XCTAssertNotNil(cache.value)
        }
      ),
      ("lock", { try XCTUnwrap(try tokens.lockForRefresh()).dispose() }),
      ("save", { try tokens.save(Token(access: "a")) }), ("load", { XCTAssertEqual(try tokens.load()?.access, "a") }),
    ]
    for (name, step) in steps { XCTAssertTrue(try closesDescriptors { _ in try step() }, name) }
  }
}

private func entry(_ text: String, expiresAt: Double = .infinity, headers: HTTPHeaders = [:]) -> CacheEntry {
  CacheEntry(
    status: 200, headers: headers, body: Data(text.utf8), requestedAt: 0, receivedAt: 0, expiresAt: expiresAt)
}

/// The problems that a cache has reported.
final class Problems: Sendable {
  private let reasons = Locked<[String]>([])

  var reports: [String] { reasons.withLock { $0 } }

  func note(_ problem: NetworkError) { reasons.withLock { $0.append(problem.reason) } }
}
