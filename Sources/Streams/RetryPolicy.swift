import PortableFoundation

/// How often and after which pauses a failed stream is tried again: exponential backoff with a cap and full jitter.
public struct RetryPolicy: Sendable {
  /// Picks a number from a range; the jitter of the pauses.
  public typealias Generator = @Sendable (ClosedRange<Double>) -> Double

  /// How many attempts there are in all, the first included; at least 1.
  public var attempts: Int
  /// The longest pause after the first attempt.
  public var initialDelay: Duration
  /// How much longer the longest pause becomes with each attempt.
  public var multiplier: Double
  /// What no pause exceeds.
  public var maximumDelay: Duration
  /// Picks each pause between nothing and the longest for its attempt ("full jitter", so that clients that failed
  /// together do not come back together).
  public var generator: Generator
  /// Whether an error is worth another attempt.
  public var shouldRetry: @Sendable (any Error) -> Bool
  /// Where the pauses are timed.
  public var scheduler: any SchedulerType

  /// A policy of three attempts with pauses of up to 0.5 and 1 s: enough to bridge a lost packet or a restart, short
  /// enough that a user still waits.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(500), multiplier: Double = 2,
    maximumDelay: Duration = .seconds(30), generator: @escaping Generator = { Double.random(in: $0) },
    shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    self.attempts = attempts
    self.initialDelay = initialDelay
    self.multiplier = multiplier
    self.maximumDelay = maximumDelay
    self.generator = generator
    self.shouldRetry = shouldRetry
    self.scheduler = scheduler
  }

  /// The pause after the attempt with that number, from 1; `nil` if there is no other.
  package func delay(after error: any Error, attempt: Int) -> Duration? {
    guard attempt < attempts, shouldRetry(error) else { return nil }
    // In seconds, as a power may leave what a Duration holds.
    let cap = maximumDelay / .seconds(1)
    let longest = Swift.min(initialDelay / .seconds(1) * pow(multiplier, Double(Swift.max(1, attempt) - 1)), cap)
    return .seconds(generator(0...Swift.max(0, longest.isNaN ? cap : longest)))
  }
}
