import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The cache while it writes files, and while another cache uses the directory. Some tests suspend the writing queue.
final class CacheDiskTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "disk-\(UUID().uuidString)")
  private let problems = Problems()

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func open(memory: Int = 0, disk: Int = 1 << 20) -> ResponseCache {
    ResponseCache(storingIn: directory, maxMemorySize: memory, maxDiskSize: disk, clock: scheduler) { [problems] in
      problems.note($0)
    }
  }

  private func entry(_ text: String) -> CacheEntry {
    CacheEntry(status: 200, headers: [:], body: Data(text.utf8), requestedAt: 0, receivedAt: 0)
  }

  private func body(_ cache: ResponseCache, _ key: String) -> String? {
    let found: CacheEntry? =
      switch cache.find(key, for: [:]) {
      case .now(let found): found?.entry
      case .later(let search): record(search).elements.first.flatMap { $0 }?.entry
      }
    return found.map { String(decoding: $0.body, as: UTF8.self) }
  }

  private var files: Int { ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).count - 1 }

  func test_smallerLimitAtTheNextStart_removesTheFilesOfTheOldestEntries() {
    do {
      let cache = open()
      for key in ["a", "b", "c"] {
        cache.store(entry(key), for: key, headers: [:])
        _ = cache.settle()
      }
    }
    XCTAssertEqual(files, 3)
    let smaller = open(disk: 2 * 4096)
    XCTAssertEqual(smaller.settle().count, 2)
    XCTAssertEqual(files, 2)
    XCTAssertEqual(["a", "b", "c"].map { body(smaller, $0) }, [nil, "b", "c"])
  }

  func test_lookup_doesNotWaitForWrites() {
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    _ = cache.settle()
    cache.writing.suspend()
    cache.store(entry("2"), for: "b", headers: [:])
    let done = expectation(description: "found what is there, and what is not")
    done.expectedFulfillmentCount = 3
    let subscriptions = ["a", "b", "c"].map { key in
      guard case .later(let search) = cache.find(key, for: [:]) else { return Disposables.create() }
      return search.subscribe(onSuccess: { found in
        XCTAssertEqual(found != nil, key == "a")
        done.fulfill()
      })
    }
    wait(for: [done], timeout: 60)
    cache.writing.resume()
    subscriptions.forEach { $0.dispose() }
    _ = cache.settle()
    XCTAssertEqual(body(cache, "b"), "2")
  }

  func test_entryRemovedWhileWritten_staysRemoved_untilStoredAgain() {
    for removal in [{ $0.removeAll() }, { $0.remove("a") }] as [(ResponseCache) -> Void] {
      for replaces in [false, true] {
        let cache = open()
        if replaces {
          cache.store(entry("0"), for: "a", headers: [:])
          _ = cache.settle()
        }
        cache.writing.suspend()
        cache.store(entry("1"), for: "a", headers: [:])
        removal(cache)
        cache.writing.resume()
        XCTAssertEqual(cache.settle().count, 0, "replaces: \(replaces)")
        XCTAssertEqual(files, 0, "replaces: \(replaces)")
        cache.writing.suspend()
        for text in ["2", "3"] {
          removal(cache)
          cache.store(entry(text), for: "a", headers: [:])
        }
        cache.writing.resume()
        _ = cache.settle()
        XCTAssertEqual(body(cache, "a"), "3")
        XCTAssertEqual(files, 1, "replaces: \(replaces)")
        removal(cache)
        XCTAssertEqual(cache.settle().count, 0, "replaces: \(replaces)")
      }
    }
  }

  func test_cache_usesTheDirectory_whenTheFormerCacheIsReleased() {
    for removesAll in [false, true] {
      var first: ResponseCache? = open()
      for key in ["a", "b", "c"] { first?.store(entry(key), for: key, headers: [:]) }
      _ = first?.settle()
      let second = open()
      XCTAssertNil(body(second, "a"), "removes all: \(removesAll)")
      second.remove("b")
      second.store(entry("new"), for: "c", headers: [:])
      if removesAll { second.removeAll() }
      _ = second.settle()
      first = nil
      XCTAssertEqual(body(second, "a"), removesAll ? nil : "a", "removes all: \(removesAll)")
      XCTAssertNil(body(second, "b"), "what was removed meanwhile")
      XCTAssertNil(body(second, "c"), "and what was replaced")
      second.store(entry("d"), for: "d", headers: [:])
      _ = second.settle()
      XCTAssertEqual(body(second, "d"), "d")
      second.removeAll()
      _ = second.settle()
    }
    XCTAssertEqual(problems.reports.count, 2, "once by each")
  }

  func test_cacheWhoseMarkerIsRemoved_leavesTheDirectoryToAnother() throws {
    let cache = open()
    cache.store(entry("1"), for: "a", headers: [:])
    XCTAssertEqual(cache.settle().count, 1)
    try FileManager.default.removeItem(at: directory)
    let other = open()
    other.store(entry("2"), for: "a", headers: [:])
    XCTAssertEqual(other.settle().count, 1)
    // The directory is the same for both, but only one has its lock.
    XCTAssertNil(body(cache, "a"))
    try FileManager.default.removeItem(at: directory.appending(path: DiskStore.marker))
    XCTAssertNil(body(other, "a"))
    XCTAssert(problems.reports.last?.contains("contains files of other programs") == true, "\(problems.reports)")
  }

  func test_entryReadFromMemory_isNotEvictedFirstFromDisk() {
    let cache = open(memory: 1 << 20, disk: 2 * 4096)
    for key in ["hot", "cold"] {
      cache.store(entry(key), for: key, headers: [:])
      _ = cache.settle()
    }
    for _ in 0..<100 { _ = cache.find("hot", for: [:]) }
    cache.store(entry("new"), for: "new", headers: [:])
    _ = cache.settle()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    XCTAssertTrue(names.contains(try XCTUnwrap(DiskStore.Name(key: "hot")).text))
    XCTAssertFalse(names.contains(try XCTUnwrap(DiskStore.Name(key: "cold")).text))
  }

  func test_diskLimit_countsBlocks() {
    let cache = open(disk: 3 * 4096)
    for number in 0..<5 { cache.store(entry("x"), for: "\(number)", headers: [:]) }
    XCTAssertEqual(cache.settle().count, 3)
    XCTAssertEqual(cache.settle().bytes, 3 * 4096)
  }
}
