import Foundation
import Streams

/// An endpoint with a cache policy of the call's own, as `endpoint.cache` and `endpoint.cache(_:)` make it
/// (article row 3.9).
public struct CachedCall<Base: Endpoint>: Endpoint {
  /// The endpoint.
  public let base: Base
  private let policy: CachePolicy

  init(_ base: Base, _ policy: CachePolicy) {
    self.base = base
    self.policy = policy
  }

  /// The endpoint's.
  public var baseURL: URL? { base.baseURL }
  /// The endpoint's.
  public var path: String { base.path }
  /// The endpoint's.
  public var method: HTTPMethod { base.method }
  /// The endpoint's.
  public var task: HTTPTask { base.task }
  /// The endpoint's.
  public var headers: HTTPHeaders { base.headers }
  /// The call's own.
  public var cachePolicy: CachePolicy? { policy }
  /// The endpoint's.
  public var cachedKey: String? { base.cachedKey }
  /// The endpoint's.
  public var cachesByBody: Bool { base.cachesByBody }
  /// The endpoint's.
  public var expiry: Double? { base.expiry }
  /// The endpoint's.
  public var allowsStorage: (@Sendable (Response) -> Bool)? { base.allowsStorage }

  /// Calls the endpoint on `network` and emits every answer that the policy gives, whatever its status:
  /// `Response.origin` tells them apart.
  ///
  /// A stored answer that `map(_:at:)` or `common()` can't read is left out where the server's follows.
  ///
  /// - Returns: the answers; fails with an error of kind `invalidRequest` where the network has no `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Observable<Response> {
    guard network.cacheInterceptor != nil else { return .error(network.hasNoCache) }
    return network.responses(Call(self, progress: progress))
  }
}

extension Endpoint {
  /// The endpoint, whose `request()` gives the stored answer, if there is one, then the server's (article row 3.9).
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").cache.request().map(User.self)
  /// ```
  public var cache: CachedCall<Self> { cache(.cacheThenNetwork()) }

  /// The endpoint with another cache policy for this call, wherever an endpoint is taken.
  public func cache(_ policy: CachePolicy) -> CachedCall<Self> { CachedCall(self, policy) }
}

extension Network {
  /// What uses the network's cache; the outermost, should there be several.
  var cacheInterceptor: CacheInterceptor? {
    for case let interceptor as CacheInterceptor in backend.interceptors { return interceptor }
    return nil
  }

  /// The interceptors behind that one.
  var behindCache: ArraySlice<any Interceptor> {
    backend.interceptors.drop { !($0 is CacheInterceptor) }.dropFirst()
  }

  var hasNoCache: NetworkError {
    NetworkError(
      kind: .invalidRequest,
      reason: "this network has no cache: put a CacheInterceptor among its back end's interceptors"
    ).ruled(by: rules)
  }

  /// The same network, whose calls use its cache as `policy` says where they and their endpoints say nothing.
  public func caching(_ policy: CachePolicy) -> Network {
    with { backend in
      backend.interceptors = backend.interceptors.map { interceptor in
        guard var cache = interceptor as? CacheInterceptor else { return interceptor }
        cache.policy = policy
        return cache
      }
    }
  }
}
