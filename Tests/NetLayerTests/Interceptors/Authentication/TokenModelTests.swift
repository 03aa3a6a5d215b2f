import Foundation
import XCTest

/// Random schedules of two processes that share a store of tokens.
///
/// `TOKEN_MODEL_SCHEDULES` sets the number of schedules, and `TOKEN_MODEL_FIRST` the first seed.
final class TokenModelTests: XCTestCase {
  func test_token_randomSchedules_keepTheInvariants() {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["TOKEN_MODEL_SCHEDULES"].flatMap(Int.init) ?? 300
    let first = environment["TOKEN_MODEL_FIRST"].flatMap(Int.init) ?? 1
    var (events, refreshes) = (0, 0)
    for seed in first..<first + count {
      let world = TokenWorld(seed)
      world.run(steps: 400)
      events += world.events
      refreshes += world.refreshes
      guard world.problems.isEmpty else {
        let world = TokenWorld(seed, hasLog: true)
        world.run(steps: 400)
        return XCTFail(
          "seed \(seed): \(world.problems.joined(separator: "; "))\n\(world.log.suffix(60).joined(separator: "\n"))")
      }
    }
    XCTAssertGreaterThan(events, count * 100)
    XCTAssertGreaterThan(refreshes, count * 3)
  }
}
