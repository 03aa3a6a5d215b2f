import Streams

/// An interceptor written with `await`.
///
/// ```swift
/// let stamp = AsyncInterceptor { request, next in
///   var request = request
///   request.headers["X-Stamp"] = try await clock.stamp()
///   return try await next(request)
/// }
/// ```
/// `next` gives the last of several answers, so it belongs behind a `CacheInterceptor`. Each call runs in a task of its own,
/// which is cancelled with the call; the answer arrives on the backend's `mapping` scheduler.
public struct AsyncInterceptor: Interceptor {
  /// Sends a request on, and gives its answer, whatever the status.
  public typealias Next = @Sendable (Request) async throws -> Response

  private let respond: @Sendable (Request, Next) async throws -> Response

  /// An interceptor that responds to each request as `respond` does, with `next` for what follows behind it.
  public init(_ respond: @escaping @Sendable (_ request: Request, _ next: Next) async throws -> Response) {
    self.respond = respond
  }

  /// What the function makes of it.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    // A task of its own does not know whose work it is.
    let isRefreshing = request.context[IsPartOfRefresh.self]
    return Single.from { [respond] in
      try await AuthenticationInterceptor.$isRefreshing.withValue(isRefreshing) {
        try await respond(request) { try await next($0).lastAsSingle().value }
      }
    }
    .asObservable().observeOn(next.mapping)
  }
}
