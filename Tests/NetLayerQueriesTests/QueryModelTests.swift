import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// Random schedules of watchers, writes, failures, pushes and sign-outs against the state machine of live queries.
///
/// `QUERY_MODEL_SEEDS` sets the number of schedules; `QUERY_MODEL_FIRST` sets the seed of the first one, to repeat a
/// failure.
final class QueryModelTests: XCTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_query_responseOfAWrite_isNewerThanAStoredValueThatIsBeingLookedUp() {
    var state = QueryState<[Int], Int>()
    XCTAssertEqual(state.handle(.join(looksUp: true)), [.load(1, .stored), .emit])
    XCTAssertEqual(state.handle(.begin(write: 7, 3)), [])
    XCTAssertEqual(state.handle(.end(write: 7, .acknowledged([1, 2, 3]))), [.cancel, .emit])
    XCTAssertEqual(state.handle(.found(1, [1, 2], isFresh: true)), [])
    XCTAssertEqual(state.value, [1, 2, 3])
    XCTAssertFalse(state.isFetching)
  }

  func test_query_refreshDuringTheLoadOfAPage_loadsAllPagesAfterIt() {
    var state = QueryState<[Int], Int>()
    XCTAssertEqual(state.handle(.join(looksUp: false)), [.emit, .load(1, .first)])
    XCTAssertEqual(state.handle(.succeed(1, [1], isNew: true)), [.emit])
    XCTAssertEqual(state.handle(.more), [.emit, .load(2, .more)])
    XCTAssertEqual(state.handle(.refresh), [.emit])
    XCTAssertEqual(state.handle(.succeed(2, [1, 2], isNew: true)), [.emit, .load(3, .again)])
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
