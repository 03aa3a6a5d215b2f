import Foundation
import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

extension TransportSuite {
  private struct Report {
    var progress: TransferProgress
    /// The time of the report by the transport's clock, in nanoseconds; `nil` if the transport does not provide one.
    var time: UInt64?
  }

  private func timedReports(_ request: NetLayer.Request) throws -> [Report] {
    let seen = Locked<[Report]>([])
    let completed = expectation(description: "completed")
    let result = Locked<Outcome?>(nil)
    let transport: any Transport = self.transport
    let progress: ProgressHandler = { report in
      var time: UInt64?
      #if canImport(CLibcurl)
        // The handler is called on the loop's thread.
        time = (transport as? CurlTransport)?.loop.now
      #endif
      seen.withLock { $0.append(Report(progress: report, time: time)) }
    }
    let completion: @Sendable (Outcome) -> Void = { outcome in
      result.withLock { $0 = outcome }
      completed.fulfill()
    }
    let sent =
      request.destination.map { transport.download(request, to: $0, progress: progress, completion: completion) }
      ?? transport.send(request, progress: progress, completion: completion)
    wait(for: [completed], timeout: 30)
    sent.dispose()
    _ = try XCTUnwrap(result.withLock { $0 }).get()
    return seen.withLock { $0 }
  }

  private func reports(_ request: NetLayer.Request) throws -> [TransferProgress] {
    try timedReports(request).map(\.progress)
  }

  /// Asserts that at least 50 ms lie between consecutive reports, except before the last one.
  private func assertSpaced(_ reports: [Report], file: StaticString = #filePath, line: UInt = #line) {
    let times = reports.dropLast().compactMap(\.time)
    for (earlier, later) in zip(times, times.dropFirst()) {
      XCTAssertGreaterThanOrEqual(later - earlier, 50_000_000, file: file, line: line)
    }
  }

  /// A body that takes at least 0.2 s to generate.
  private var slowBody: Request.Body {
    .stream(
      Request.BodyStream(count: 800_000) {
        let left = Locked(40)
        return {
          Thread.sleep(forTimeInterval: 0.005)
          return left.withLock { left in
            left -= 1
            return left >= 0 ? Data(repeating: 7, count: 20_000) : nil
          }
        }
      })
  }

  func test_row_1_8_progressOfADownloadIncreasesToTheTotal() throws {
    let file = try temporaryFile(Data())
    let server = try TestServer { _ in .bytes([UInt8](repeating: 1, count: 3_000_000)) }
    for destination in [nil, file] {
      var request = Request(url: server.url("/"))
      request.destination = destination
      let reports = try reports(request)
      XCTAssertEqual(reports.map(\.received), reports.map(\.received).sorted())
      XCTAssertEqual(reports.last?.received, 3_000_000)
      XCTAssertEqual(reports.last?.fractionReceived, 1)
    }
  }

  func test_row_1_8_progressOfAnUploadIncreasesToTheTotal() throws {
    let file = try temporaryFile(Data(repeating: 2, count: 2_000_000))
    let server = try TestServer { _ in .text("ok") }
    let request = Request(method: .post, url: server.url("/"), body: .file(file))
    let reports = try reports(request)
    XCTAssertEqual(reports.map(\.sent), reports.map(\.sent).sorted())
    XCTAssertEqual(reports.last?.sent, 2_000_000)
    XCTAssertEqual(reports.last?.fractionSent, 1)
    XCTAssertEqual(reports.last?.received, 2)
  }

  func test_row_1_8_reportsAreAtLeast50MillisecondsApart() throws {
    let chunks = (0..<40).map { _ in TestServer.Response.Chunk([UInt8](repeating: 0, count: 100), after: 0.005) }
    let server = try TestServer { _ in .stream(chunks) }
    let reports = try timedReports(Request(url: server.url("/")))
    // The body takes at least 0.2 s. A slow machine takes longer and may report more often.
    XCTAssertGreaterThan(reports.count, 1)
    XCTAssertLessThan(reports.count, 39)
    XCTAssertEqual(reports.last?.progress.received, 4000)
    assertSpaced(reports)
  }

  func test_row_1_8_reportsOfAnUploadAreAtLeast50MillisecondsApart() throws {
    let server = try TestServer { _ in .text("ok") }
    let reports = try timedReports(Request(method: .post, url: server.url("/"), body: slowBody))
    XCTAssertGreaterThan(reports.count, 1)
    XCTAssertEqual(reports.last?.progress.sent, 800_000)
    assertSpaced(reports)
  }

  func test_row_1_8_progressNeverDecreases_ifARedirectRepeatsOrDropsTheBody() throws {
    for status in [307, 303] {
      let reports = try reports(request(.post, "/redirect/\(status)", body: slowBody))
      XCTAssertGreaterThan(reports.count, 1)
      XCTAssertEqual(reports.map(\.sent), reports.map(\.sent).sorted(), "\(status)")
      XCTAssertEqual(reports.map(\.received), reports.map(\.received).sorted(), "\(status)")
      // After a 303 no body is sent, and the last reported progress remains.
      if status == 307 { XCTAssertEqual(reports.last?.sent, 800_000) }
      XCTAssertEqual(reports.last?.fractionSent, 1, "\(status)")
    }
  }
}
