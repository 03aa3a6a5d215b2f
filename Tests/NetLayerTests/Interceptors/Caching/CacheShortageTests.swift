import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The cache when it temporarily has no file descriptors, no directory or no write permission.
final class CacheShortageTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "short-\(UUID().uuidString)")
  private let problems = Problems()

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func open(_ directory: URL? = nil) -> ResponseCache {
    ResponseCache(storingIn: directory ?? self.directory, maxMemorySize: 0, clock: scheduler) { [problems] in
      problems.note($0)
    }
  }

  private func entry(_ text: String, tags: [String] = []) -> CacheEntry {
    CacheEntry(status: 200, headers: [:], body: Data(text.utf8), requestedAt: 0, receivedAt: 0, tags: tags)
  }

  private func store(_ keys: [String], in cache: ResponseCache, tags: [String] = []) {
    for key in keys {
      cache.store(entry(key, tags: tags), for: key, headers: [:])
      _ = cache.settle()
    }
  }

  private func found(_ keys: [String], in cache: ResponseCache) -> [String] {
    keys.filter { key in
      guard case .later(let search) = cache.find(key, for: [:]) else { return false }
      return record(search).elements.first.flatMap { $0 } != nil
    }
  }

  func test_descriptorShortage_keepsTheDiskAndItsUse() {
    let keys = (0..<20).map(String.init)
    var cache: ResponseCache? = open()
    cache.map { store(keys, in: $0) }
    cache = nil
    let again = open()
    withoutDescriptors {
      XCTAssertEqual(found(keys, in: again), [])
      again.remove("7")
      XCTAssertEqual(problems.reports.count, 1)
      XCTAssertTrue(problems.reports.first?.contains("Too many open files") == true, "\(problems.reports)")
    }
    XCTAssertEqual(found(keys, in: again), keys.filter { $0 != "7" })
    // Threads of earlier tests may close a descriptor meanwhile, so there are several attempts.
    let attempts = (0..<5).lazy.map { _ in
      var all: [String] = []
      withoutDescriptors { all = self.found(keys, in: again) }
      return all
    }
    XCTAssertTrue(attempts.contains([]), "an open directory alone gives no file")
    XCTAssertEqual(found(keys, in: again), keys.filter { $0 != "7" })
    store(["new"], in: again)
    XCTAssertEqual(found(["new"], in: again), ["new"])
  }

  func test_descriptorShortageDuringOpening_removesNothing() {
    let keys = (0..<5).map(String.init)
    var cache: ResponseCache? = open()
    cache.map { store(keys, in: $0) }
    cache = nil
    // Descriptors for the directory, its lock, the list of its files, and the files.
    for left in 0...3 {
      var again: ResponseCache? = open()
      withoutDescriptors(but: left) { _ = again.map { found(keys, in: $0) } }
      XCTAssertEqual(again.map { found(keys, in: $0) }, keys, "\(left)")
      _ = again?.settle()
      again = nil
    }
  }

  func test_removalByTagDuringAShortage_isKept() {
    var cache: ResponseCache? = open()
    let url = URL(fileURLWithPath: "/").appending(path: "a")
    cache.map { store(["a", "b"], in: $0, tags: CacheTags.all(of: url)) }
    cache.map { store(["c"], in: $0) }
    cache = nil
    let again = open()
    withoutDescriptors {
      again.removeAll(of: url)
      _ = again.settle()
    }
    XCTAssertEqual(found(["a", "b", "c"], in: again), ["c"])
  }

  func test_tags_areStoredOnDisk() throws {
    let url = try XCTUnwrap(URL(string: "http://h/a/b?token=secret"))
    for removal in [{ $0.removeAll(of: url) }, { $0.removeAll(below: url.deletingLastPathComponent()) }]
      as [(ResponseCache) -> Void]
    {
      var cache: ResponseCache? = open()
      cache.map { store(["a"], in: $0, tags: CacheTags.all(of: url)) }
      cache.map { store(["b"], in: $0, tags: CacheTags.all(of: url.appending(path: "c").deletingLastPathComponent())) }
      cache.map { store(["c"], in: $0) }
      cache = nil
      let again = open()
      removal(again)
      XCTAssertEqual(found(["a", "c"], in: again), ["c"])
      let writing = open(directory.appending(path: "other"))
      writing.writing.suspend()
      writing.store(entry("x", tags: CacheTags.all(of: url)), for: "x", headers: [:])
      writing.queue.sync {}
      removal(writing)
      writing.writing.resume()
      XCTAssertEqual(writing.settle().count, 0, "also what is being written")
    }
  }

  func test_deletedDirectory_isCreatedAgain() throws {
    let cache = open()
    store(["a"], in: cache)
    try FileManager.default.removeItem(at: directory)
    XCTAssertEqual(found(["a"], in: cache), [])
    store(["b"], in: cache)
    XCTAssertEqual(found(["a", "b"], in: cache), ["b"])
    XCTAssertEqual(problems.reports, [])
    try FileManager.default.removeItem(at: directory)
    cache.writing.suspend()
    cache.store(entry("c"), for: "c", headers: [:])
    cache.queue.sync {}
    try FileManager.default.removeItem(at: directory)
    cache.writing.resume()
    _ = cache.settle()
    XCTAssertEqual(found(["c"], in: cache), [], "it was lost on its way")
    store(["d"], in: cache)
    XCTAssertEqual(found(["b", "c", "d"], in: cache), ["d"])
  }

  func test_readOnlyFileSystem_isUsedAgain_whenWritable() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try SmallDisk.mount(at: directory, for: self)
    var cache: ResponseCache? = open()
    cache.map { store(["a"], in: $0) }
    cache = nil
    try SmallDisk.setReadOnly(true, directory)
    let again = open()
    let inside = open(directory.appending(path: "missing"))
    for cache in [again, inside] { store(["b"], in: cache) }
    XCTAssertEqual(problems.reports.count, 2)
    for reason in problems.reports { XCTAssertTrue(reason.contains("Read-only file system"), reason) }
    try SmallDisk.setReadOnly(false, directory)
    XCTAssertEqual(found(["a", "b"], in: again), ["a"])
    for cache in [again, inside] {
      store(["c"], in: cache)
      XCTAssertEqual(found(["c"], in: cache), ["c"])
    }
  }

  func test_oldestRemoval_isRespected_afterMoreRemovalsThanAreRecorded() {
    let cache = ResponseCache(storingIn: nil, clock: scheduler) { _ in }
    let mark = cache.changes
    cache.remove("a")
    for number in 0..<1001 { cache.remove("\(number)") }
    cache.store(entry("a"), for: "a", headers: [:], since: mark)
    guard case .now(nil) = cache.find("a", for: [:]) else { return XCTFail("it was asked for before it was removed") }
    cache.store(entry("a"), for: "a", headers: [:])
    guard case .now(.some) = cache.find("a", for: [:]) else { return XCTFail("what comes later is kept") }
  }
}
