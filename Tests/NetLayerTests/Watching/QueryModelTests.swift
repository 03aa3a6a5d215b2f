import Foundation
import XCTest

/// Random schedules of watchers, writes, failures, pushes and sign-outs against the state machine of live queries.
///
/// `QUERY_MODEL_SEEDS` sets the number of schedules; `QUERY_MODEL_FIRST` sets the seed of the first one, to repeat a
/// failure.
final class QueryModelTests: XCTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_query_randomSchedules_showEveryChangeOnce() {
    let first = Self.setting("QUERY_MODEL_FIRST", 1)
    let count = Self.setting("QUERY_MODEL_SEEDS", 500)
    var totals = (loads: 0, writes: 0, emissions: 0)
    for seed in first..<first + count {
      var world = QueryWorld(seed: UInt64(seed))
      world.run()
      if world.failure != nil {
        world = QueryWorld(seed: UInt64(seed), isTraced: true)
        world.run()
        return XCTFail("seed \(seed): \(world.failure ?? "")")
      }
      totals = (totals.loads + world.loads, totals.writes + world.writes, totals.emissions + world.emissions)
    }
    print("\(count) schedules: \(totals.loads) loads, \(totals.writes) writes, \(totals.emissions) emissions")
    XCTAssertGreaterThan(totals.loads, 10 * count)
  }
}
