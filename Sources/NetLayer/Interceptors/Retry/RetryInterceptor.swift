import PortableFoundation
import Streams

/// Sends a request again when its failure may be over by then (article rows 0.5, 3.14).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [RetryInterceptor()])
/// ```
/// Only what is safe to send twice is sent twice: the idempotent methods (GET, HEAD, OPTIONS, TRACE, QUERY, PUT, DELETE;
/// RFC 9110 §9.2.2), and any other that carries an `Idempotency-Key`. What is repeated are errors of kind `connection`,
/// `unknownHost` and `timeout`, and these statuses:
///
/// | status | why |
/// |---|---|
/// | 408 | the server gave up waiting for the request (RFC 9110 §15.5.9) |
/// | 425 | it came too early in a TLS handshake (RFC 8470 §5.2) |
/// | 429 | too many requests: the pause is what was asked for (RFC 6585 §4) |
/// | 500 | often one bad instance among many |
/// | 502, 503, 504 | the server behind the gateway is away, busy or slow: mostly for a moment (RFC 9110 §15.6) |
///
/// The pause is the policy's, or the server's `Retry-After` where it sends one. When all attempts are used up, the
/// last answer or error is the call's; `request.context[Attempt.self]` of either says how many there were.
public struct RetryInterceptor: Interceptor {
  /// The statuses that are repeated unless others are given.
  public static let defaultStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// Attempts, pauses and the scheduler that times them; `shouldRetry` may refuse errors that would be repeated, and is
  /// asked about answers as an error of kind `status`.
  public var policy: RetryPolicy
  /// The statuses that are repeated.
  public var statuses: Set<Int>
  /// The longest `Retry-After` that is waited for; a longer one ends the attempts, since coming earlier than asked would
  /// only be refused again.
  public var maximumRetryAfter: Duration
  /// Whether a request may be sent twice.
  public var isRepeatable: @Sendable (Request) -> Bool
  private let budget: RetryBudget

  /// Three attempts, with pauses of up to 0.5 and 1 s, or up to a minute where the server asks for it.
  ///
  /// - Parameters:
  ///   - policy: attempts and pauses.
  ///   - statuses: the statuses that are repeated.
  ///   - maximumRetryAfter: the longest `Retry-After` that is waited for.
  ///   - budget: how many retries a host gets; give several back ends the same to count them together.
  ///   - isRepeatable: whether a request may be sent twice.
  public init(
    policy: RetryPolicy = RetryPolicy(), statuses: Set<Int> = Self.defaultStatuses,
    maximumRetryAfter: Duration = .seconds(60), budget: RetryBudget = RetryBudget(),
    isRepeatable: @escaping @Sendable (Request) -> Bool = { $0.isIdempotent }
  ) {
    self.policy = policy
    self.statuses = statuses
    self.maximumRetryAfter = maximumRetryAfter
    self.budget = budget
    self.isRepeatable = isRepeatable
  }

  /// Sends `request` until it succeeds, may not be repeated, or the attempts or the host's budget are used up.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    budget.earn(Origin(request.url))
    return attempt(request, next)
  }

  private func attempt(_ request: Request, _ next: Chain) -> Observable<Response> {
    guard request.context[Attempt.self] < policy.attempts, request.body.isRepeatable, isRepeatable(request) else {
      return next(request)
    }
    // A map and a catchError in one scope, as this is on the way of every request.
    return Observable(push: { subscription, emit in
      let scope = CatchScope(subscription) { error in
        let pause = (error as? Again)?.pause ?? pause(after: NetworkError.wrapping(error), request)
        guard let pause else { throw error }
        var again = request
        again.context[Attempt.self] += 1
        attempt(again, next).delaySubscription(pause, scheduler: policy.scheduler).run(subscription, emit)
      }
      next(request).run(scope) { response in
        // Answers leave by the way of the errors, so that nothing of them is emitted.
        if statuses.contains(response.status), let pause = pause(after: response, request) {
          throw Again(pause)
        }
        subscription.deliver(response, to: emit)
      }
    })
  }

  private func pause(after response: Response, _ request: Request) -> Duration? {
    let error = NetworkError(kind: .status, code: response.status, reason: "status", response: response)
    guard var pause = policy.delay(after: error, attempt: request.context[Attempt.self]) else { return nil }
    if let asked = RetryAfter(response.headers, now: policy.scheduler.now) {
      guard asked.pause <= maximumRetryAfter else { return nil }
      pause = asked.pause
    }
    return budget.spend(Origin(request.url)) ? pause : nil
  }

  private func pause(after error: NetworkError, _ request: Request) -> Duration? {
    guard error.kind.isTransient, let pause = policy.delay(after: error, attempt: request.context[Attempt.self]),
      budget.spend(Origin(request.url))
    else { return nil }
    return pause
  }

  /// Ends an attempt whose answer is to be repeated.
  private struct Again: Error {
    let pause: Duration
    init(_ pause: Duration) { self.pause = pause }
  }
}

extension Request {
  /// Whether sending it twice does what sending it once does: by its method (RFC 9110 §9.2.2), or since an
  /// `Idempotency-Key` lets the server tell.
  public var isIdempotent: Bool {
    method.isIdempotent || !headers.values(of: "Idempotency-Key").isEmpty
  }
}
