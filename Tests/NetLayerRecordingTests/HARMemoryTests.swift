import Foundation
import NetLayerRecording
import Streams
import TestSupport
import XCTest

/// The memory that an archive takes.
final class HARMemoryTests: XCTestCase {
  /// Reads the archive while another thread notes the memory.
  func test_readingSmallEntriesTakesAtMostThreeTimesTheSizeOfTheFile() throws {
    let count = 60_000
    var bytes = Data(#"{"log":{"entries":["#.utf8)
    for index in 0..<count {
      bytes += Data(
        (#"{"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"request":{"method":"GET","url":"http://h/\#(index)","#
          + #""headers":[]},"response":{"status":200,"headers":[],"content":{"size":0,"text":""}},"timings":{"wait":1}}"#
          + (index + 1 < count ? "," : "")).utf8)
    }
    bytes += Data("]}}".utf8)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    try bytes.write(to: file)
    let size = bytes.count
    bytes = Data()
    var entries: [HAREntry] = []
    let peak = Locked(0)
    guard residentGrowth({}) != nil, let before = residentBytes() else { throw XCTSkip("the memory can't be measured") }
    let isOver = Locked(false)
    let watch = Thread {
      while !isOver.withLock({ $0 }) {
        let now = residentBytes() ?? 0
        peak.withLock { $0 = max($0, now) }
        usleep(500)
      }
    }
    watch.start()
    entries = try HARReader.entries(of: file)
    isOver.withLock { $0 = true }
    XCTAssertEqual(entries.count, count)
    XCTAssertEqual(entries.last?.url, "http://h/59999")
    XCTAssertLessThan(peak.withLock { $0 } - before, 3 * size)
  }
}
