import Foundation
import LoopbackServer
import Streams
import XCTest

@testable import NetLayer

extension TransportSuite {
  private func reports(_ request: NetLayer.Request) throws -> [TransferProgress] {
    let seen = Locked<[TransferProgress]>([])
    let completed = expectation(description: "completed")
    let result = Locked<Outcome?>(nil)
    let sent = transport.send(request, progress: { report in seen.withLock { $0.append(report) } }) { outcome in
      result.withLock { $0 = outcome }
      completed.fulfill()
    }
    wait(for: [completed], timeout: 30)
    sent.dispose()
    _ = try XCTUnwrap(result.withLock { $0 }).get()
    return seen.withLock { $0 }
  }

  func test_row_1_8_progressOfADownloadGrowsAndEndsWithTheWhole() throws {
    let file = try temporaryFile(Data())
    let server = try LoopbackServer { _ in .bytes([UInt8](repeating: 1, count: 3_000_000)) }
    for destination in [nil, file] {
      var request = Request(url: server.url("/"))
      request.destination = destination
      let reports = try reports(request)
      XCTAssertEqual(reports.map(\.received), reports.map(\.received).sorted())
      XCTAssertEqual(reports.last?.received, 3_000_000)
      XCTAssertEqual(reports.last?.fractionReceived, 1)
    }
  }

  func test_row_1_8_progressOfAnUploadGrowsAndEndsWithTheWhole() throws {
    let file = try temporaryFile(Data(repeating: 2, count: 2_000_000))
    let server = try LoopbackServer { _ in .text("ok") }
    let request = Request(method: .post, url: server.url("/"), body: .file(file))
    let reports = try reports(request)
    XCTAssertEqual(reports.map(\.sent), reports.map(\.sent).sorted())
    XCTAssertEqual(reports.last?.sent, 2_000_000)
    XCTAssertEqual(reports.last?.fractionSent, 1)
    XCTAssertEqual(reports.last?.received, 2)
  }

  func test_row_1_8_reportsAreAtLeast50MillisecondsApart() throws {
    let chunks = (0..<40).map { _ in LoopbackServer.Response.Chunk([UInt8](repeating: 0, count: 100), after: 0.005) }
    let server = try LoopbackServer { _ in .stream(chunks) }
    let reports = try reports(Request(url: server.url("/")))
    // 0.2 s at least; a slow machine takes longer and then may report more often.
    XCTAssertGreaterThan(reports.count, 1)
    XCTAssertLessThan(reports.count, 39)
    XCTAssertEqual(reports.last?.received, 4000)
  }
}
