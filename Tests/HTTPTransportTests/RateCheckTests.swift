import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport

/// The rule about the rate of a response, in virtual time: 1 KB in 60 s.
final class RateCheckTests: XCTestCase {
  private static let second: UInt64 = 1_000_000_000

  private func request(_ timeouts: Request.Timeouts = .init()) throws -> Request {
    Request(url: try XCTUnwrap(URL(string: "http://h/")), timeouts: timeouts)
  }

  /// Returns the second at which a response ends that has `count(second)` bytes, looked at every five seconds.
  private func end(
    _ timeouts: Request.Timeouts = .init(), isStreamed: Bool = false, isHead: (Int) -> Bool = { _ in false },
    _ count: (Int) -> Int64?
  ) throws -> Int? {
    var check = RateCheck(try request(timeouts), isStreamed: isStreamed)
    return stride(from: 0, through: 700, by: 5).first { second in
      let now = UInt64(second) * Self.second
      return check.deadline(count(second), isHead: isHead(second), at: now) <= now
    }
  }

  func test_theDefaults() {
    XCTAssertEqual(Request.Timeouts(), .init(connect: .seconds(15), idle: .seconds(60), attempt: nil, call: nil))
  }

  func test_steadyProgressForTenMinutes_isNotEnded() throws {
    XCTAssertNil(try end { Int64($0) * 18 })
    // An upload that continues behind an early head counts, too.
    XCTAssertNil(try end { Int64($0) * 1000 })
    XCTAssertNil(try end { _ in nil })
  }

  func test_aByteEveryTenSeconds_endsWithinTwoMinutes() throws {
    XCTAssertEqual(try end { Int64($0 / 10) }, 60)
    // After a good start within the first minute.
    XCTAssertEqual(try end { $0 == 0 ? 0 : Int64(5000 + $0 / 10) }, 120)
    XCTAssertEqual(try end { Int64($0) * 17 }, 60)
  }

  func test_theHeadHasItsOwnTime_andAPauseBeginsAgain() throws {
    XCTAssertEqual(try end(isHead: { $0 < 50 }) { _ in 0 }, 110)
    XCTAssertEqual(try end(isHead: { _ in true }) { _ in 0 }, 60)
    // A pause of the client at 40 s; the server is silent until 300 s.
    XCTAssertEqual(try end { $0 == 40 ? nil : 0 }, 105)
    XCTAssertEqual(try end { $0 < 300 ? nil : 0 }, 360)
    // Another attempt begins with fewer bytes.
    XCTAssertEqual(try end { $0 < 55 ? 900 : 0 }, 115)
    var check = RateCheck(try request(), isStreamed: false)
    XCTAssertEqual(check.deadline(0, isHead: false, at: 0), 60 * Self.second)
    check.restart()
    XCTAssertEqual(check.deadline(0, isHead: false, at: Self.second), 61 * Self.second)
  }

  func test_explicitLimits_meanWhatTheySay() throws {
    XCTAssertNil(try end(.init(attempt: .seconds(3600))) { _ in 0 })
    XCTAssertNil(try end(.init(idle: nil)) { _ in 0 })
    XCTAssertEqual(try end(.init(idle: .seconds(5))) { _ in 0 }, 60)
    // Silence within `idle` is allowed.
    XCTAssertEqual(try end(.init(idle: .seconds(300))) { _ in 0 }, 300)
    XCTAssertEqual(try end(.init(call: .seconds(3600))) { _ in 0 }, 60)
  }

  func test_streams_haveNoRule_exceptDownloads() throws {
    XCTAssertNil(try end(isStreamed: true) { _ in 0 })
    var request = try request()
    request.context[IsDownload.self] = true
    var check = RateCheck(request, isStreamed: true)
    XCTAssertEqual(check.deadline(0, isHead: false, at: 0), 60 * Self.second)
  }
}
