import Streams

/// An interceptor that uses `await`.
///
/// `next` returns only the last of several responses, so place it after a `CacheInterceptor`. Each call runs in its own
/// task, which is cancelled with the call. The response arrives on the backend's `mapping` scheduler.
public struct AsyncInterceptor: Interceptor {
  /// The rest of the chain, which sends a request and returns its response, regardless of the status.
  public struct Next: Sendable {
    fileprivate let chain: InterceptorChain

    /// Sends `request`.
    public func callAsFunction(_ request: Request) async throws -> Response {
      try await chain(request).lastAsSingle().value
    }

    /// Sends `request` with the header fields of `credentials`, as ``InterceptorChain/callAsFunction(_:with:)`` does.
    public func callAsFunction(_ request: Request, with credentials: Request.Credentials) async throws -> Response {
      try await chain(request, with: credentials).lastAsSingle().value
    }
  }

  private let respond: @Sendable (Request, Next) async throws -> Response

  /// Creates an interceptor whose responses `respond` returns. `next` sends a request to the rest of the chain.
  public init(_ respond: @escaping @Sendable (_ request: Request, _ next: Next) async throws -> Response) {
    self.respond = respond
  }

  /// Records whether the request belongs to a refresh of a token.
  public func captureContext(into request: inout Request) { request.markRefresh() }

  /// Calls the function in a new task.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    // The new task does not inherit the mark that it belongs to a refresh.
    let isRefreshing = request.context[IsPartOfRefresh.self]
    return Single.from { [respond] in
      try await IsPartOfRefresh.$isRefreshing.withValue(isRefreshing) {
        try await respond(request, Next(chain: next))
      }
    }
    .asObservable().observeOn(next.mapping)
  }
}
