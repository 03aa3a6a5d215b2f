import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Random schedules of faults, kills and changed files against the state machine of uploads.
///
/// `UPLOAD_MODEL_SEEDS` sets the number of schedules; `UPLOAD_MODEL_FIRST` sets the seed of the first one, to repeat a
/// failure.
final class UploadModelTests: XCTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_upload_randomSchedules_uploadOnce() {
    let first = Self.setting("UPLOAD_MODEL_FIRST", 1)
    let count = Self.setting("UPLOAD_MODEL_SEEDS", 500)
    var totals = (requests: 0, results: 0, unknowns: 0)
    for seed in first..<first + count {
      var world = UploadWorld(seed: UInt64(seed))
      world.run()
      if world.failure != nil {
        world = UploadWorld(seed: UInt64(seed), isTraced: true)
        world.run()
        return XCTFail("seed \(seed): \(world.failure ?? "")")
      }
      totals = (totals.requests + world.requests, totals.results + world.results, totals.unknowns + world.unknowns)
    }
    print(
      "\(count) schedules: \(totals.requests) requests, \(totals.results) results, \(totals.unknowns) unknown outcomes")
    XCTAssertGreaterThan(totals.results, count)
    XCTAssertGreaterThan(totals.unknowns, count / 20)
  }
}
