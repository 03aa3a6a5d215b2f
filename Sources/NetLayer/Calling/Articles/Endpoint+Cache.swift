import PortableFoundation
import Streams

extension Endpoint {
  /// The endpoint with a policy by which `request()` emits the stored response, if there is one, then the server's.
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").cache.request().map(User.self)
  /// ```
  public var cache: Call<Output> { caching(.cacheThenNetwork()) }
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
