import Foundation
import Streams

/// An endpoint with a cache policy of the call's own, as `endpoint.cache` and `endpoint.cache(_:)` make it
/// (article row 3.9).
public struct CachedCall: Endpoint {
  /// The endpoint, with the policy.
  public let call: Call

  init(_ endpoint: some Endpoint, _ policy: CachePolicy) {
    var call = Call(endpoint)
    call.caching.policy = policy
    self.call = call
  }

  /// The call's.
  public var baseURL: URL? { call.baseURL }
  /// The call's.
  public var path: String { call.path }
  /// The call's.
  public var method: HTTPMethod { call.method }
  /// The call's.
  public var task: HTTPTask { call.task }
  /// The call's.
  public var headers: HTTPHeaders { call.headers }
  /// The call's.
  public var caching: CacheOptions { call.caching }

  /// Calls the endpoint on `network` and emits every answer that the policy gives, whatever its status:
  /// `Response.origin` tells them apart.
  ///
  /// A stored answer that `map(_:at:)` or `common()` can't read is left out where the server's follows.
  ///
  /// - Returns: the answers; fails with an error of kind `invalidRequest` where the network has no `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Observable<Response> {
    guard network.cacheInterceptor != nil else { return .error(network.hasNoCache) }
    return network.responses(call, progress: progress)
  }
}

extension Endpoint {
  /// The endpoint, whose `request()` gives the stored answer, if there is one, then the server's (article row 3.9).
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").cache.request().map(User.self)
  /// ```
  public var cache: CachedCall { cache(.cacheThenNetwork()) }

  /// The endpoint with another cache policy for this call, wherever an endpoint is taken.
  public func cache(_ policy: CachePolicy) -> CachedCall { CachedCall(self, policy) }
}

extension Network {
  /// What uses the network's cache; the outermost, should there be several.
  var cacheInterceptor: CacheInterceptor? {
    for case let interceptor as CacheInterceptor in backend.interceptors { return interceptor }
    return nil
  }

  var hasNoCache: NetworkError {
    reading.error(
      .invalidRequest, "this network has no cache: put a CacheInterceptor among its back end's interceptors")
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
