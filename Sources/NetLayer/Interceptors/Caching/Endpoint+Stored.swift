import Streams

extension Endpoint {
  /// What is stored for the endpoint, without asking the server; `nil` where nothing is.
  ///
  /// Read off the caller's thread, where it is not in memory.
  public func cachedResponse(on network: Network = .default) -> Single<Response?> {
    stored(on: network).asObservable().map { $0 as Response? }
      .catchError { error in
        (error as? NetworkError)?.kind == .notCached ? .just(nil) : .error(error)
      }
      .asSingle()
  }

  /// The model that is stored for the endpoint; `nil` where nothing is, or nothing that can be read as one
  ///.
  public func cachedObject<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, on network: Network = .default
  ) -> Single<Model?> {
    cachedResponse(on: network).map { response in
      try? response?.validated().model(type, at: path, failsOnEmptyData: true)
    }
  }

  /// Stores `response` as the endpoint's answer, as if it were made just now: for what an app brings along or has learnt
  /// otherwise.
  ///
  /// Interceptors in front of the cache do not see the request; one that changes it makes a call look elsewhere. So do
  /// `removeCachedResponse` and `cachedResponse`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` where the network has no `CacheInterceptor`, the endpoint can't be
  ///   cached, or the response is a part (206), in a file or of `Vary: *`; and of the kinds that building the request has.
  public func storeCachedResponse(_ response: Response, on network: Network = .default) throws {
    let (cache, key, request) = try place(on: network)
    guard response.file == nil, response.status != 206, response.headers["Vary"]?.contains("*") != true else {
      throw network.reading.error(
        .invalidRequest, "\(response) can't be stored: give a whole body in memory, and no Vary: *"
      ).about(request)
    }
    let now = cache.now
    var headers = response.headers
    (headers["Age"], headers["Date"]) = (nil, nil)
    let entry = CacheEntry(
      status: response.status, headers: headers, body: response.body, requestedAt: now, receivedAt: now,
      hasQuery: request.url.query != nil, tags: CacheTags.all(of: request.url))
    cache.store(caching.expiry.map(entry.expiring) ?? entry, for: key, headers: request.headers)
  }

  /// Forgets what is stored for the endpoint.
  ///
  /// - Throws: as `storeCachedResponse`.
  public func removeCachedResponse(on network: Network = .default) throws {
    let (cache, key, _) = try place(on: network)
    cache.remove(key)
  }

  private func stored(on network: Network) -> Single<Response> {
    guard let interceptor = network.cacheInterceptor else { return .error(network.hasNoCache) }
    // Nobody else is told: nothing is sent, and that nothing is stored is no failure.
    let alone = network.with {
      $0.interceptors = [interceptor] + network.behindCache
      ($0.onError, $0.mapError) = (nil, nil)
    }
    return alone.request(cache(.cacheOnly))
  }

  private func place(on network: Network) throws -> (cache: Cache, key: String, request: Request) {
    guard let interceptor = network.cacheInterceptor else { throw network.hasNoCache }
    let request = try network.builder.request(for: Call(self))
    let policy = caching.policy ?? interceptor.policy
    guard
      let key = interceptor.key(of: request, policy: policy, token: interceptor.token(of: request, network.behindCache))
    else {
      throw network.reading.error(
        .invalidRequest,
        "\(request) can't be cached: use GET without a body, or includesBody with a cache policy other than http"
      ).about(request)
    }
    return (interceptor.cache, key, request)
  }
}
