import Streams

/// Keeps retries from multiplying an outage: each host has a bucket of them, which its requests fill slowly.
///
/// A request adds `ratio` of a retry, a retry takes one. A host that fails now and then never notices; one that is down
/// gets the bucket's content and from then on at most `ratio` extra, 10 % by default.
public final class RetryBudget: Sendable {
  private let capacity: Double
  private let ratio: Double
  /// What is missing in a bucket that is not full; full ones need no entry.
  private let missing = Locked<[String: Double]>([:])

  /// A bucket of `capacity` retries for each host, to which each request adds `ratio`.
  ///
  /// Ten are enough for the failures of a moment, whose requests came together.
  public init(capacity: Double = 10, ratio: Double = 0.1) {
    self.capacity = max(0, capacity)
    self.ratio = max(0, ratio)
  }

  /// Notes a request to `host`.
  func earn(_ host: @autoclosure () -> String?) {
    missing.withLock { missing in
      guard !missing.isEmpty, let host = host(), let lack = missing[host] else { return }
      missing[host] = lack > ratio ? lack - ratio : nil
    }
  }

  /// Takes one retry out of the bucket of `host`; `false` when there is none.
  func spend(_ host: String?) -> Bool {
    missing.withLock { missing in
      let lack = missing[host ?? "", default: 0]
      // A tenth added ten times is a hair less than one.
      guard lack + 1 <= capacity + 1e-9 else { return false }
      // A client of very many hosts must not grow without end.
      if missing.count >= 4096 { missing = [:] }
      missing[host ?? ""] = lack + 1
      return true
    }
  }
}
