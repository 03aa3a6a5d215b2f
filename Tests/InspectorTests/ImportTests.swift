import Foundation
import NetLayerRecording
import TestSupport
import XCTest

@testable import NetLayerInspector

/// The import of a file that a page sends.
final class ImportTests: XCTestCase {
  private static func archive(_ count: Int) -> [UInt8] {
    var text = #"{"log":{"entries":["#
    for index in 0..<count {
      text +=
        #"{"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"request":{"method":"GET","url":"http://h/\#(index)","#
      text +=
        #""headers":[]},"response":{"status":200,"headers":[],"content":{"size":0,"text":""}},"timings":{"wait":1}}"#
      if index + 1 < count { text += "," }
    }
    return Array((text + "]}}").utf8)
  }

  func test_theTextOfAnImportHasAllCalls_inParts() throws {
    struct Imported: Decodable {
      struct Call: Decodable {
        var id: Int
        var url: String?
      }
      struct Detail: Decodable {}

      var calls: [Call]
      var details: [Detail]
    }
    for (count, parts) in [(0, 2), (1, 2), (500, 2), (501, 4), (1_200, 6)] {
      var text = ImportedText(ArchivedCalls(try HARReader.entries(in: Data(Self.archive(count)))))
      var bytes: [UInt8] = []
      var found = 0
      while let part = text.next() {
        bytes += part
        found += 1
      }
      XCTAssertEqual(found, parts, "\(count)")
      let imported = try JSONDecoder().decode(Imported.self, from: Data(bytes))
      XCTAssertEqual(imported.calls.map(\.id), Array(1..<(count + 1)))
      XCTAssertEqual(imported.details.count, count)
      XCTAssertEqual(imported.calls.last?.url, count == 0 ? nil : "http://h/\(count - 1)")
    }
  }

  func test_anImportOfSmallEntriesTakesAtMostThreeTimesTheSizeOfTheFile() throws {
    let page = try Page(Inspector(Recorder()))
    let client = try RawClient(port: page.port)
    let file = Self.archive(40_000)
    client.send("POST /\(page.secret)/import HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:\(page.port)\r\n")
    client.send("Origin: \(page.origin)\r\nContent-Length: \(file.count)\r\n\r\n")
    var count = 0
    let peak = residentPeak {
      client.send(file[...])
      while case let received = client.skip(65_536), received > 0 { count += received }
    }
    guard let peak else { throw XCTSkip("the memory can't be measured") }
    XCTAssertGreaterThan(count, 2 * file.count, "the details of all calls")
    XCTAssertLessThan(peak, 3 * file.count)
  }
}
