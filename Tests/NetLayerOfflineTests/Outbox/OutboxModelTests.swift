import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Random schedules of writes, kills, power cuts, sign-ins and failures against the state machine of the outbox.
///
/// `OUTBOX_MODEL_SEEDS` sets the number of schedules; `OUTBOX_MODEL_FIRST` sets the seed of the first one, to repeat a
/// failure.
final class OutboxModelTests: XCTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_outbox_randomSchedules_loseNothingAndRepeatNothing() {
    let first = Self.setting("OUTBOX_MODEL_FIRST", 1)
    let count = Self.setting("OUTBOX_MODEL_SEEDS", 500)
    var totals = (sends: 0, kills: 0, cuts: 0, starts: 0)
    for seed in first..<first + count {
      var world = OutboxWorld(seed: UInt64(seed))
      world.run()
      if world.failure != nil {
        world = OutboxWorld(seed: UInt64(seed), isTraced: true)
        world.run()
        return XCTFail("seed \(seed): \(world.failure ?? "")")
      }
      let counts = world.counts
      totals = (
        totals.sends + counts.sends, totals.kills + counts.kills, totals.cuts + counts.cuts,
        totals.starts + counts.starts
      )
    }
    print(
      "\(count) schedules: \(totals.sends) sends, \(totals.kills) kills, \(totals.cuts) cuts, \(totals.starts) starts")
    XCTAssertGreaterThan(totals.starts, 10 * count)
  }
}
