import Streams

/// Keeps retries from multiplying an outage: each origin (scheme, host and port) has a bucket of them, which its requests
/// fill slowly.
///
/// A request adds `ratio` of a retry, a retry takes one. An origin that fails now and then never notices; one that is
/// down gets the bucket's content and from then on at most `ratio` extra, 10 % by default.
public final class RetryBudget: Sendable {
  private let capacity: Double
  private let ratio: Double
  /// What is missing in a bucket that is not full; full ones need no entry.
  private let missing = Locked<[Origin: Double]>([:])

  /// A bucket of `capacity` retries for each origin, to which each request adds `ratio`.
  ///
  /// Ten are enough for the failures of a moment, whose requests came together.
  public init(capacity: Double = 10, ratio: Double = 0.1) {
    self.capacity = max(0, capacity)
    self.ratio = max(0, ratio)
  }

  /// Notes a request to `origin`.
  func earn(_ origin: @autoclosure () -> Origin) {
    missing.withLock { missing in
      guard !missing.isEmpty else { return }
      let origin = origin()
      guard let lack = missing[origin] else { return }
      missing[origin] = lack > ratio ? lack - ratio : nil
    }
  }

  /// Takes one retry out of the bucket of `origin`; `false` when there is none.
  func spend(_ origin: Origin) -> Bool {
    missing.withLock { missing in
      let lack = missing[origin, default: 0]
      // A tenth added ten times is a hair less than one.
      guard lack + 1 <= capacity + 1e-9 else { return false }
      // A client of very many origins must not grow without end.
      if missing.count >= 4096 { missing = [:] }
      missing[origin] = lack + 1
      return true
    }
  }
}
