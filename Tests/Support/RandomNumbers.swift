import Foundation
import PortableFoundation
import Races
import XCTest

extension XCTestCase {
  /// Returns random numbers and prints their seed, with which `NETLAYER_SEED` repeats the numbers of a failure.
  package func randomNumbers() -> SplitMix64 {
    let seed = ProcessInfo.processInfo.environment["NETLAYER_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1_000_000)
    // Printed immediately, because a crash would print nothing later.
    StandardError.print("\(name): NETLAYER_SEED=\(seed)")
    return SplitMix64(seed: seed)
  }
}
