import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Removed entries do not return, even from operations in progress. Some tests suspend the queue of the cache.
final class CacheRemovalTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "removal-\(UUID().uuidString)")

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func open() -> ResponseCache { ResponseCache(storingIn: directory, clock: scheduler) { _ in } }

  private func entry(_ text: String, _ headers: HTTPHeaders = [:]) -> CacheEntry {
    CacheEntry(status: 200, headers: headers, body: Data(text.utf8), requestedAt: 0, receivedAt: 0)
  }

  /// Returns a cache that has `a` only on disk.
  private func cacheWithAFile() -> ResponseCache {
    let former = open()
    former.store(entry("old"), for: "a", headers: [:])
    _ = former.settle()
    former.queue.sync {}
    return open()
  }

  private func body(_ cache: ResponseCache, _ key: String) -> String? {
    let found: CacheEntry? =
      switch cache.find(key, for: [:]) {
      case .now(let found): found?.entry
      case .later(let search): record(search).elements.first.flatMap { $0 }?.entry
      }
    return found.map { String(decoding: $0.body, as: UTF8.self) }
  }

  func test_entryRemovedDuringALookup_isNotRestored() {
    for removal in [{ $0.removeAll() }, { $0.remove("a") }] as [(ResponseCache) -> Void] {
      let cache = cacheWithAFile()
      cache.queue.suspend()
      guard case .later(let search) = cache.find("a", for: [:]) else { return XCTFail("a is on disk only") }
      let done = expectation(description: "searched")
      let subscription = search.subscribe(onSuccess: { _ in done.fulfill() })
      removal(cache)
      cache.queue.resume()
      wait(for: [done], timeout: 60)
      subscription.dispose()
      _ = cache.settle()
      XCTAssertNil(body(cache, "a"))
    }
  }

  func test_responseRequestedBeforeItsRemoval_isNotStored_afterManyRemovals() {
    let cache = ResponseCache(storingIn: nil, clock: scheduler)
    let before = cache.changes
    cache.remove("a")
    for other in 0..<1500 { cache.remove("\(other)") }
    cache.store(entry("old"), for: "a", headers: [:], since: before)
    XCTAssertNil(body(cache, "a"))
    cache.store(entry("new"), for: "a", headers: [:], since: cache.changes)
    XCTAssertEqual(body(cache, "a"), "new")
  }

  func test_pendingWrites_areBounded() {
    let cache = open()
    cache.queue.suspend()
    let large = String(repeating: "x", count: 3 << 20)
    for headers in [[:], ["Vary": "X"]] as [HTTPHeaders] {
      weak var last: CacheEntry?
      for number in 0..<8 {
        let entry = entry(large, headers)
        last = entry
        cache.store(entry, for: "\(number)", headers: [:])
      }
      // Evict the entries from memory, so that only the queue could still hold them.
      for number in 0..<4 { cache.store(entry(large), for: "filler \(number)", headers: [:]) }
      XCTAssertNil(last, "\(headers)")
    }
    cache.queue.resume()
    _ = cache.settle()
  }
}
