import HTTPTypes
import Hummingbird

/// The moment at which the client of a request stops waiting.
package struct Deadline: Sendable {
  /// The header field with the remaining time in milliseconds. Envoy adds it to each request that it routes.
  package static let header = "x-envoy-expected-rq-timeout-ms"
  /// The time for a request without the header field, and the maximum time for all others.
  package static let longest = Duration.seconds(10)

  package let instant: ContinuousClock.Instant

  /// Creates the deadline of a request that has just arrived.
  init(_ fields: HTTPFields) {
    let milliseconds = HTTPField.Name(Self.header).flatMap { fields[$0] }.flatMap { UInt32($0) }
    instant = .now + min(milliseconds.map { .milliseconds($0) } ?? Self.longest, Self.longest)
  }

  /// The remaining time; zero or less after the deadline.
  package var remaining: Duration { instant - .now }

  /// Returns a remaining time in the unit of the header field, at least 1.
  package static func milliseconds(_ remaining: Duration) -> Int { max(1, Int(remaining / .milliseconds(1))) }
}
