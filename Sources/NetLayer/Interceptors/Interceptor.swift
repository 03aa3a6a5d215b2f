import Streams

/// Stands between a network and its transport: sees, changes, repeats or answers requests.
///
/// ```swift
/// struct Stamp: Interceptor {
///   func intercept(_ request: Request, next: Chain) -> Observable<Response> {
///     var request = request
///     request.headers["X-Request"] = "1"
///     return next(request)
///   }
/// }
/// ```
/// `Backend.interceptors` run in their order: the first is the outermost, so it sees a request first and its answer last.
/// Behind the last one is the transport. A request arrives built and signed, and a status other than a success is no
/// error yet. Those of the library work together in this order, each left out where it is not wanted:
///
/// 1. ``NetworkLogger``, ``EventMonitor``: hear of each call once.
/// 2. ``CoalescingInterceptor``: what is asked by many is done once.
/// 3. ``CacheInterceptor``: answers by itself where it can.
/// 4. ``WaitForNetwork``: nothing below is tried without a network.
/// 5. ``RetryInterceptor``: repeats what is below.
/// 6. ``TraceInterceptor``: each attempt is a span of the caller's trace.
/// 7. ``AuthenticationInterceptor``: each attempt takes the newest token.
/// 8. ``LimitInterceptor``: only what really goes out holds a place.
///
/// A logger at the end hears of every attempt.
public protocol Interceptor: Sendable {
  /// The responses to `request`, usually those of `next`.
  ///
  /// Called once per subscription, on the subscribing thread, and again for each repetition; it must not block. What
  /// `next` gives arrives on the backend's `mapping` scheduler. Calls that are streams emit every response; for singles the
  /// last one is the result.
  func intercept(_ request: Request, next: Chain) -> Observable<Response>
  /// Whom the interceptor would authenticate `request` as, for interceptors further out that keep users apart; `nil`, the
  /// default, for nobody.
  ///
  /// An interceptor that adds credentials returns what tells their owners apart, and says in `intercept` that it has added
  /// them: see ``Authentication``. Called on the subscribing thread; it must not block.
  func account(of request: Request) -> String?
  /// Notes on `request.context` what holds where the call begins, such as the values of task-locals; does nothing by default.
  ///
  /// Called once per call, before any interceptor's `intercept`, on the subscribing thread; it must not block. Repetitions
  /// begin on other threads, where the task-locals of the caller have no values.
  func prepare(_ request: inout Request)
}

extension Interceptor {
  /// Nobody.
  public func account(of request: Request) -> String? { nil }
  /// Nothing.
  public func prepare(_ request: inout Request) {}
}

/// Was a request and a response: interceptors return `Response` alone.
@available(
  *, unavailable,
  message: "interceptors return Observable<Response>, and response.request is the request as it was sent"
)
public typealias Exchange = Response
