import Foundation
import NetLayerRecording
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
    guard let peak = try residentPeak(during: { entries = try HARReader.entries(of: file) }) else {
      throw XCTSkip("the memory can't be measured")
    }
    XCTAssertEqual(entries.count, count)
    XCTAssertEqual(entries.last?.url, "http://h/59999")
    XCTAssertLessThan(peak, 3 * size)
  }
}
