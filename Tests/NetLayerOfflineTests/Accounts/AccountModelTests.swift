import Foundation
import XCTest

/// Random schedules of two users in two processes, with every capability and with refreshes that fail: no byte of one user is in
/// a request or on a screen of the other.
///
/// `ACCOUNT_MODEL_SCHEDULES` sets the number of schedules, and `ACCOUNT_MODEL_FIRST` the first seed.
final class AccountModelTests: XCTestCase {
  func test_accounts_randomSchedules_keepUsersApart() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["ACCOUNT_MODEL_SCHEDULES"].flatMap(Int.init) ?? 60
    let first = environment["ACCOUNT_MODEL_FIRST"].flatMap(Int.init) ?? 1
    let folder = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var requests = 0
    for seed in first..<first + count {
      let place = folder.appending(path: "\(seed)")
      let world = try AccountWorld(UInt64(seed), in: place)
      try world.run()
      try FileManager.default.removeItem(at: place)
      requests += world.log.count
      guard world.problems.isEmpty else {
        return XCTFail(
          "seed \(seed), step \(world.steps): \(world.problems.joined(separator: "\n"))\n\(world.log.suffix(60).joined(separator: "\n"))"
        )
      }
    }
    XCTAssertGreaterThan(requests, count * 10, "the schedules send requests")
  }
}
