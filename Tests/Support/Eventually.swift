import Foundation
import LoopbackServer
import XCTest

/// Waits until other threads have made `condition` true, and fails after 20 s.
package func eventually(
  _ what: String, line: UInt = #line, isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async throws {
  for _ in 0..<10_000 where !condition() { try await Task.sleep(for: .milliseconds(2)) }
  XCTAssertTrue(condition(), "waited in vain until \(what)", line: line)
}

extension TestServer {
  /// Waits until the server has sent nothing for a while, because its client has stopped reading.
  package func standsStill() async throws {
    var (last, unchanged) = (-1, 0)
    for _ in 0..<4_000 where unchanged < 10 {
      try await Task.sleep(for: .milliseconds(5))
      unchanged = sentByteCount == last ? unchanged + 1 : 0
      last = sentByteCount
    }
    XCTAssertGreaterThanOrEqual(unchanged, 10, "the server still sends after 20 s")
  }
}
