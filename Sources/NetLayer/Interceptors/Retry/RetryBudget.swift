import Streams

/// A limit on retries, so that they don't make an outage worse. Each origin (scheme, host and port) has a bucket of
/// retries, which its good responses refill slowly.
///
/// A good response adds `ratio` of a retry; a retry takes one. Statuses that are retried, and all of 500 and above, are not good.
/// An origin that is down receives the bucket's retries, and no more until it responds.
public final class RetryBudget: Sendable {
  private let capacity: Double
  private let ratio: Double
  /// Guards the missing retries of buckets that are not full. Full ones need no entry.
  private let missing = Locked<[Origin: Double]>([:])

  /// Creates a budget with a bucket of `capacity` retries for each origin, to which each good response adds `ratio`.
  ///
  /// The default of 10 covers the failures of a burst of requests.
  public init(capacity: Double = 10, ratio: Double = 0.1) {
    self.capacity = max(0, capacity)
    self.ratio = max(0, ratio)
  }

  func earn(_ origin: @autoclosure () -> Origin) {
    missing.withLock { missing in
      guard !missing.isEmpty else { return }
      let origin = origin()
      guard let lack = missing[origin] else { return }
      missing[origin] = lack > ratio ? lack - ratio : nil
    }
  }

  /// Takes one retry from the bucket of `origin`; returns `false` if it is empty.
  func spend(_ origin: Origin) -> Bool {
    missing.withLock { missing in
      let lack = missing[origin, default: 0]
      // Allow for rounding errors: a sum of ten tenths may be slightly less than one.
      guard lack + 1 <= capacity + 1e-9 else { return false }
      // The table must not grow without limit for a client of very many origins.
      if missing.count >= 4096 { missing = [:] }
      missing[origin] = lack + 1
      return true
    }
  }
}
