import LoopbackServer
import NetLayerRecording
import Streams
import XCTest

@testable import Demo

/// Tours that are repeated on one server, as by `Demo --inspect`.
final class RepeatedTourTests: XCTestCase {
  func test_threeToursOnOneServer_showEveryStop() async throws {
    let server = try TourServer.start()
    let silent = try TestServer { _ in .neverResponding }
    defer {
      server.stop()
      silent.stop()
    }
    let clock = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    var tours: [[String]] = []
    for _ in 0..<3 {
      let stops = try Stops(server: server, silent: silent, recorder: Recorder())
      tours.append(
        try await Observable<String>.concat(stops.all).timeout(.seconds(20), scheduler: clock).toArray().value)
    }
    func isCounted(_ line: String) -> Bool { line.hasPrefix("live: ") || line.hasPrefix("merge: ") }
    for (number, tour) in tours.enumerated() {
      let totals = tour.compactMap { $0.firstMatch(of: /live: .* total (\d+)/).flatMap { Int($0.1) } }
      XCTAssertEqual(totals, [8, 9, 9, 19].map { $0 + number * 11 })
      XCTAssertEqual(tour.filter { !isCounted($0) }, tours[0].filter { !isCounted($0) })
      XCTAssertEqual(tour.count, tours[0].count)
    }
  }

  func test_aTourThatFails_doesNotEndTheRepetition() {
    struct Failure: Error {}
    var count = 0
    Tour.repeatTour(Console(), until: { count == 3 }) {
      count += 1
      if count < 3 { throw Failure() }
    }
    XCTAssertEqual(count, 3)
  }
}
