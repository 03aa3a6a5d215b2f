import PortableFoundation

/// A policy for retrying failed streams: exponential backoff with a maximum delay and full jitter.
public struct RetryPolicy: Sendable {
  /// The maximum number of attempts, including the first; values below 1 are treated as 1.
  public var attempts: Int
  /// The upper bound of the delay after the first attempt.
  public var initialDelay: Duration
  /// The factor by which the upper bound of the delay grows with each attempt.
  public var multiplier: Double
  /// The maximum delay.
  public var maxDelay: Duration
  /// The jitter: picks each delay between zero and the upper bound for its attempt.
  ///
  /// Full jitter keeps clients that failed simultaneously from retrying simultaneously.
  public var jitter: @Sendable (ClosedRange<Double>) -> Double
  /// A closure that returns whether to retry after an error.
  public var shouldRetry: @Sendable (any Error) -> Bool
  /// The scheduler that times the delays; `nil`, the default, for a concurrent queue, or the clock of a network's backend.
  public var scheduler: (any SchedulerType)?
  /// The scheduler, if it is not given from outside.
  package var timer: any SchedulerType { scheduler ?? ConcurrentDispatchQueueScheduler(qos: .utility) }

  /// Creates a policy: by default, three attempts with delays of up to 0.5 s and 1 s.
  ///
  /// The defaults are long enough to bridge a lost packet or a restart, and short enough for a waiting user.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(500), multiplier: Double = 2,
    maxDelay: Duration = .seconds(30),
    jitter: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) },
    shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
    scheduler: (any SchedulerType)? = nil
  ) {
    self.attempts = attempts
    self.initialDelay = initialDelay
    self.multiplier = multiplier
    self.maxDelay = maxDelay
    self.jitter = jitter
    self.shouldRetry = shouldRetry
    self.scheduler = scheduler
  }

  /// Returns the delay after attempt number `attempt`, counted from 1, or `nil` if no attempt follows.
  package func delay(after error: any Error, attempt: Int) -> Duration? {
    guard attempt < attempts, shouldRetry(error) else { return nil }
    guard initialDelay > .zero else { return .zero }
    // Computed in seconds as `Double`, because the power may exceed the range of `Duration`.
    let cap = maxDelay / .seconds(1)
    let longest = Swift.min(initialDelay / .seconds(1) * pow(multiplier, Double(Swift.max(1, attempt) - 1)), cap)
    return .seconds(jitter(0...Swift.max(0, longest.isNaN ? cap : longest)))
  }
}
