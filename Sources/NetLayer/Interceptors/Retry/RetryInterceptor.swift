import PortableFoundation
import Streams

/// An interceptor that retries requests after transient failures.
///
/// Only requests that are safe to send twice are retried: requests with an idempotent method (GET, HEAD, OPTIONS,
/// TRACE, QUERY, PUT, DELETE; RFC 9110 §9.2.2) or an `Idempotency-Key`. The retried failures are errors of kind
/// `connection`, `unknownHost` and `timeout`, and these statuses, also those of a token server during a refresh:
///
/// | status | reason |
/// |---|---|
/// | 408 | the server timed out while waiting for the request (RFC 9110 §15.5.9) |
/// | 425 | the request arrived too early in a TLS handshake (RFC 8470 §5.2) |
/// | 429 | too many requests: the server sets the delay (RFC 6585 §4) |
/// | 500 | often one bad instance among many |
/// | 502, 503, 504 | the server behind the gateway is unavailable, busy or slow, usually for a moment (RFC 9110 §15.6) |
///
/// The delay comes from the policy or the server's `Retry-After`. A delay that `Timeouts.call` would cut does not
/// begin. The response or error of the last attempt is the result of the call; its `request.attempt` is the number of
/// attempts. If a call passes two of these interceptors, their limits do not multiply.
public struct RetryInterceptor: SendingInterceptor {
  /// The statuses that are retried by default.
  public static let defaultStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// The number of attempts, the delays and their scheduler. `shouldRetry` can reject the retry of an error; a response
  /// is passed to it as an error of kind `status`.
  public var policy: RetryPolicy
  /// The statuses to retry.
  public var statuses: Set<Int>
  /// The maximum `Retry-After` to wait for. A longer delay ends the attempts, because the server would reject an
  /// earlier retry.
  public var maxRetryAfter: Duration
  /// A closure that returns whether a request is safe to retry.
  public var isRepeatable: @Sendable (Request) -> Bool
  /// A function that returns the delay that a response requests in its body; `nil`, also as its result, for the delay of
  /// `Retry-After` or of the policy. It is called on the `mapping` scheduler.
  public var requestedDelay: (@Sendable (Response) -> Duration?)?
  private let budget: RetryBudget

  /// Creates an interceptor. By default, it makes three attempts with delays of up to 0.5 s and 1 s, or up to a minute
  /// if the server requests it.
  ///
  /// `budget` is the budget of retries per origin, which also ends the attempts of a policy with more of them. Several
  /// backends can share one. The other parameters are the properties.
  public init(
    policy: RetryPolicy = RetryPolicy(), statuses: Set<Int> = Self.defaultStatuses,
    maxRetryAfter: Duration = .seconds(60), budget: RetryBudget = RetryBudget(),
    isRepeatable: @escaping @Sendable (Request) -> Bool = { $0.isIdempotent },
    requestedDelay: (@Sendable (Response) -> Duration?)? = nil
  ) {
    self.policy = policy
    self.statuses = statuses
    self.maxRetryAfter = maxRetryAfter
    self.budget = budget
    self.isRepeatable = isRepeatable
    self.requestedDelay = requestedDelay
  }

  /// Sends `request` until it succeeds, can't be retried, or has used up the attempts or the origin's budget.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    attempt(request, next)
  }

  private func attempt(_ request: Request, _ next: InterceptorChain) -> Observable<Response> {
    guard request.attempt < policy.attempts, request.body.isRepeatable, isRepeatable(request) else {
      return next(request).map { response in
        earn(from: response, to: request)
        return response
      }
    }
    let clock = policy.scheduler ?? next.clock
    return next(request)
      .map { response in
        // Thrown, so that the response is not emitted.
        if let again = again(request, after: response, at: clock.now) { throw again }
        earn(from: response, to: request)
        return response
      }
      .catchError { error in
        let known = error as? Again
        guard let again = try known ?? again(request, after: .wrapping(error), at: clock.now) else { throw error }
        var request = request
        request.attempt = again.made + 1
        next.network.observers?.note(.pause, of: request) { $0.duration = again.pause }
        // The later interceptors are called after the pause, so that none sends a token or a date that it read before.
        return Observable.deferred { [request] in attempt(request, next) }
          .delaySubscription(again.pause, scheduler: clock)
          .catchError { error in
            // A retry that was not sent says less than the result before it.
            guard NetworkError.wrapping(error).kind == .unavailable, let result = again.result else { throw error }
            return .just(try result.get())
          }
      }
  }

  /// Refills the budget for a response that shows that the server works. In an outage, nothing does.
  private func earn(from response: Response, to request: Request) {
    if response.status < 500, !statuses.contains(response.status) { budget.earn(Origin(request.url)) }
  }

  private func again(_ request: Request, after response: Response, at now: Date) -> Again? {
    guard statuses.contains(response.status) else { return nil }
    let made = Swift.max(request.attempt, response.request.attempt)
    let error = NetworkError(kind: .status, code: response.status, reason: "status", response: response)
    guard var pause = policy.delay(after: error, attempt: made) else { return nil }
    if let requested = requestedDelay?(response) ?? RetryAfter(response.headers, now: now)?.pause {
      guard requested <= maxRetryAfter else { return nil }
      pause = Swift.max(.zero, requested)
    }
    guard CallLimit.of(request)?.allows(pause) ?? true else { return nil }
    guard budget.spend(Origin(request.url)) else { return nil }
    return Again(pause: pause, made: made, result: request.isStreamed ? nil : .success(response))
  }

  /// - Throws: The error with the remedy, if only the budget forbids the retry.
  private func again(_ request: Request, after error: NetworkError, at now: Date) throws -> Again? {
    let made = Swift.max(request.attempt, error.request?.attempt ?? 0)
    let status = error.statusOfTokenServer
    let mayPass = status.map(statuses.contains) ?? error.isTransient
    // A retry of what was not sent would be rejected, too.
    guard mayPass, error.kind != .unavailable, var pause = policy.delay(after: error, attempt: made) else { return nil }
    if status != nil, let requested = error.response.flatMap({ RetryAfter($0.headers, now: now)?.pause }) {
      if requested > maxRetryAfter { return nil }
      pause = Swift.max(.zero, requested)
    }
    if let limit = CallLimit.of(request), !limit.allows(pause) { return nil }
    let origin = Origin(request.url)
    guard budget.spend(origin) else {
      var error = error
      error.reason +=
        "; not retried, because the retry budget of \(origin.text) is used up: pass a larger RetryBudget as budget"
      throw error
    }
    return Again(pause: pause, made: made, result: .failure(error))
  }

  /// The decision to retry, which is thrown to end an attempt.
  private struct Again: Error {
    let pause: Duration
    /// The number of attempts so far. An inner interceptor may have made several.
    let made: Int
    /// The result of the attempt; `nil` for a streamed response, whose connection is released for the next one.
    let result: Result<Response, NetworkError>?
  }
}
