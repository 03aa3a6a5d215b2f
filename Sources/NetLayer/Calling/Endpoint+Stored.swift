import Streams

extension Endpoint {
  /// Emits the stored response of the endpoint without a request to the server, or `nil` for a miss.
  ///
  /// Responses on disk are not read on the caller's thread.
  public func cachedResponse(on network: Network = .default) -> Single<Response?> {
    stored(on: network).asObservable().map { $0 as Response? }
      .catchError { error in
        (error as? NetworkError)?.kind == .notCached ? .just(nil) : .error(error)
      }
      .asSingle()
  }

  /// Emits the stored model of the endpoint, or `nil` for a miss or a response that can't be decoded.
  public func cachedObject<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, on network: Network = .default
  ) -> Single<Model?> {
    cachedResponse(on: network).map { response in
      try? response?.validated().model(type, inBodyAt: path)
    }
  }

  /// Stores `response` as a new response of the endpoint, for responses that an app bundles or obtains in another way.
  ///
  /// Interceptors before the cache do not see the request. If one of them changes requests, calls look up another key.
  /// The same applies to `removeCachedResponse` and `cachedResponse`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if the network has no `CacheInterceptor`, or the endpoint or the
  ///   response can't be cached. The kind is `notCached` if an interceptor before the cache has signed a user in.
  public func storeCachedResponse(_ response: Response, on network: Network = .default) throws {
    let (cache, key, request) = try place(on: network)
    guard response.file == nil, response.status != 206, response.headers["Vary"]?.contains("*") != true else {
      throw network.reading.error(
        .invalidRequest, "\(response) can't be stored: it must have a complete body in memory, and no Vary: *"
      ).about(request)
    }
    let now = cache.now
    var headers = response.headers
    (headers["Age"], headers["Date"]) = (nil, nil)
    let entry = CacheEntry(
      status: response.status, headers: headers, body: response.body, requestedAt: now, receivedAt: now,
      hasQuery: request.url.query != nil, tags: CacheTags.all(of: request))
    cache.store(
      caching.lifetime.map { entry.expiring(after: $0.inSeconds) } ?? entry, for: key, headers: request.headers)
  }

  /// Removes the stored response of the endpoint.
  ///
  /// - Throws: The errors of `storeCachedResponse`.
  public func removeCachedResponse(on network: Network = .default) throws {
    let (cache, key, _) = try place(on: network)
    cache.remove(key)
  }

  private func stored(on network: Network) -> Single<Response> {
    guard let interceptor = network.cacheInterceptor else { return .error(network.hasNoCache) }
    if let request = try? network.builder.request(for: CallContent(self)), network.hasUserBeforeCache(of: request) {
      return .error(network.hasUserBeforeCache)
    }
    // Nothing is sent, and a miss is not a failure.
    let alone = network.quiet { $0.interceptors = [interceptor] + network.behindCache }
    var content = CallContent(self)
    content.caching.policy = .cacheOnly
    return alone.response(to: content)
  }

  private func place(on network: Network) throws -> (cache: ResponseCache, key: String, request: Request) {
    guard let interceptor = network.cacheInterceptor else { throw network.hasNoCache }
    let request = network.begun(try network.builder.request(for: CallContent(self)))
    guard !network.hasUserBeforeCache(of: request) else { throw network.hasUserBeforeCache.about(request) }
    guard let key = network.key(of: request, in: interceptor) else {
      throw network.reading.error(
        .invalidRequest,
        "\(request) can't be cached: use GET without a body, or set includesBody and a cache policy other than http"
      ).about(request)
    }
    return (interceptor.cache, key, request)
  }
}

extension Network {
  /// A stored response, its freshness, and whether it is used without a request.
  package typealias StoredResponse = (response: Response, freshness: Freshness, isFresh: Bool)

  /// Looks up the stored response to `request` that may be shown, and passes it to `found` on the `mapping` scheduler, or
  /// `nil`, on any thread.
  package func lookUp(_ request: Request, _ found: @escaping @Sendable (StoredResponse?) -> Void) {
    guard let interceptor = cacheInterceptor else { return found(nil) }
    let request = begun(request)
    let policy = request.caching.policy ?? interceptor.policy
    guard policy != .networkOnly, !hasUserBeforeCache(of: request), let key = key(of: request, in: interceptor) else {
      return found(nil)
    }
    interceptor.cache.follow(backend.clock)
    let finish: @Sendable (ResponseCache.Match?) -> Void = { [self] match in
      guard let match else { return found(nil) }
      runOnMappingQueue { [self] in found(showable(match, to: request, by: policy, in: interceptor.cache)) }
    }
    switch interceptor.cache.find(key, for: request.headers) {
    case .now(let match): finish(match)
    case .later(let search): _ = search.subscribe(onSuccess: finish, onError: { _ in found(nil) })
    }
  }

  /// Returns the response of `match`, unless its reader or the server forbids its use without a request.
  private func showable(
    _ match: ResponseCache.Match, to request: Request, by policy: CachePolicy, in cache: ResponseCache
  ) -> StoredResponse? {
    let (entry, now) = (match.entry, backend.clock.now.timeIntervalSinceReferenceDate)
    guard !entry.isDistrusted, (200...299).contains(entry.status) else { return nil }
    let isFresh = CacheDecision(policy: policy, headers: request.headers, entry: entry, at: now) == .deliver
    let requested = CacheControl(request.headers)
    let isForbidden = ["no-cache", "must-revalidate"].contains { entry.freshness.control.has($0) }
    if policy == .http, !isFresh, isForbidden || requested.has("no-cache") { return nil }
    return (cache.response(match, to: request, at: now), entry.freshness, isFresh)
  }

  /// The interceptor of the network's cache; the outermost of several.
  package var cacheInterceptor: CacheInterceptor? { caches.first }

  /// The backend's interceptors after that one.
  var behindCache: ArraySlice<any Interceptor> {
    backend.interceptors.drop { !($0 is CacheInterceptor) }.dropFirst()
  }

  /// Returns the key of `request` with the account that those interceptors and the signer will use; `nil` for a request
  /// that bypasses the cache.
  fileprivate func key(of request: Request, in interceptor: CacheInterceptor) -> String? {
    let place = interceptors.firstIndex { $0 is CacheInterceptor } ?? 0
    let token = interceptor.account == nil ? logins.account(of: request, from: place) : nil
    return interceptor.key(
      of: request, policy: request.caching.policy ?? interceptor.policy, token: token,
      transport: sharingIdentity(of: request))
  }

  /// Returns whether an interceptor before the cache has a user for `request`, whose credentials are a part of the key.
  func hasUserBeforeCache(of request: Request) -> Bool {
    guard let place = interceptors.firstIndex(where: { $0 is CacheInterceptor }) else { return false }
    return logins.account(of: request, from: 0, to: place) != nil
  }

  /// The error of a stored response that only a call can find.
  var hasUserBeforeCache: NetworkError {
    reading.error(
      .notCached,
      "an interceptor before the CacheInterceptor adds credentials, so that only a call finds the stored "
        + "response; place the cache before that interceptor")
  }

  var hasNoCache: NetworkError {
    reading.error(
      .invalidRequest, "this network has no cache: add a CacheInterceptor to the backend's interceptors")
  }
}
