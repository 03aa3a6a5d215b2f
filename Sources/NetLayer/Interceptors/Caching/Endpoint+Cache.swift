import PortableFoundation
import Streams

extension Endpoint {
  /// The endpoint with a policy by which `request()` emits the stored response, if there is one, then the server's.
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").cache.request().map(User.self)
  /// ```
  public var cache: Call<Output> { cache(.cacheThenNetwork()) }

  /// Returns the endpoint with another cache policy, usable wherever a function takes an endpoint.
  public func cache(_ policy: CachePolicy) -> Call<Output> { caching(policy) }
}

extension Call {
  /// Calls the endpoint on `network` and emits every response of the cache policy that is a success. `Response.origin`
  /// distinguishes them.
  ///
  /// A stored response that `map(_:at:)` or `common()` can't read is omitted if the server's response follows.
  ///
  /// - Returns: The responses. Fails with an error of kind `invalidRequest` if the call has a cache policy but the
  ///   network has no `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Observable<Response> {
    guard caching.policy == nil || network.cacheInterceptor != nil else { return .error(network.hasNoCache) }
    return network.responses(content, accept: accept, progress: progress).settled()
  }
}

extension Network {
  /// The interceptor of the network's cache; the outermost of several.
  var cacheInterceptor: CacheInterceptor? {
    for case let interceptor as CacheInterceptor in backend.interceptors { return interceptor }
    return nil
  }

  /// The interceptors after that one.
  var behindCache: ArraySlice<any Interceptor> {
    backend.interceptors.drop { !($0 is CacheInterceptor) }.dropFirst()
  }

  var hasNoCache: NetworkError {
    reading.error(
      .invalidRequest, "this network has no cache: add a CacheInterceptor to the backend's interceptors")
  }

  /// Returns the same network with another cache policy for calls and endpoints without their own.
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
