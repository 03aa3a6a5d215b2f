import PortableFoundation
import Streams

extension Endpoint {
  /// The endpoint, whose `request()` gives the stored answer, if there is one, then the server's (article row 3.9).
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").cache.request().map(User.self)
  /// ```
  public var cache: Call { cache(.cacheThenNetwork()) }

  /// The endpoint with another cache policy for this call, wherever an endpoint is taken.
  public func cache(_ policy: CachePolicy) -> Call { Call(self).caching(policy) }
}

extension Call {
  /// Calls on `network` and emits every answer that the call's cache policy gives, whatever its status:
  /// `Response.origin` tells them apart.
  ///
  /// A stored answer that `map(_:at:)` or `common()` can't read is left out where the server's follows.
  ///
  /// - Returns: the answers; fails with an error of kind `invalidRequest` where the call has a cache policy and the network no
  ///   `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Observable<Response> {
    guard caching.policy == nil || network.cacheInterceptor != nil else { return .error(network.hasNoCache) }
    return network.responses(self, progress: progress)
  }
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
