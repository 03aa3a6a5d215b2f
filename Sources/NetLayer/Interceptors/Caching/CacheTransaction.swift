import PortableFoundation
import Streams

/// The processing of one request by the cache, at each subscription.
final class CacheTransaction: StreamSource {
  typealias Found = ResponseCache.Match
  private typealias Start = (time: Double, changes: UInt64)

  let interceptor: CacheInterceptor
  let request: Request
  let key: String
  let token: String?
  let policy: CachePolicy
  let next: InterceptorChain

  init(
    interceptor: CacheInterceptor, request: Request, key: String, token: String?, policy: CachePolicy,
    next: InterceptorChain
  ) {
    self.interceptor = interceptor
    self.request = request
    self.key = key
    self.token = token
    self.policy = policy
    self.next = next
  }

  private var cache: ResponseCache { interceptor.cache }
  private var now: Double { next.clock.now.timeIntervalSinceReferenceDate }

  func start(_ sink: Sink<Response>) {
    responses().run(sink.subscription, sink.next)
  }

  private func responses() -> Observable<Response> {
    if policy == .networkOnly, !request.caching.isRefetch { return fetch(nil) }
    switch cache.find(key, for: request.headers) {
    // The caller's thread may be the main one.
    case .now(let found): return responses(for: found, switching: true)
    case .later(let search):
      return search.observeOn(next.mapping).asObservable().flatMap { [self] in responses(for: $0, switching: false) }
    }
  }

  /// Emits a response of the cache, after a switch to the mapping scheduler if `switching` is `true`.
  private func deliver(_ response: Response, _ switching: Bool) -> Observable<Response> {
    switching ? Observable(CachedDelivery(response, next)) : .just(response)
  }

  private func responses(for found: Found?, switching: Bool) -> Observable<Response> {
    // The account that the app states may have changed during a search of the disk.
    let mine = switching || isOfSameAccount ? found : nil
    // A stored response that is not a success, even a fresh one, does not replace a success.
    let found = policy == .http ? mine : mine.flatMap { (200...299).contains($0.entry.status) ? $0 : nil }
    var decision = CacheDecision(policy: policy, headers: request.headers, entry: found?.entry, at: now)
    // With `http`, the `no-cache` of a refetch has already decided, except that no stored response may replace an error.
    let mayReplaceServer = policy == .http ? decision == .fetchUnlessOutage : policy != .cacheOnly
    if mayReplaceServer, request.caching.isRefetch { decision = .fetch }
    // The transport asks the same before it sends.
    if found != nil, let failure { return Observable.error(failure).observeOn(next.mapping) }
    switch (decision, found) {
    case (.gatewayTimeout, _):
      return deliver(CacheInterceptor.gatewayTimeout(request), switching)
    case (.fail, _):
      return CacheInterceptor.notCached(request, next)
    case (.fetch, _), (_, nil):
      return fetch(found)
    case (.deliver, let found?):
      return deliver(response(found), switching)
    case (.deliverAndRevalidate, let found?):
      let stale = response(found)
      cache.refresh(found.key, fetch(found))
      return deliver(stale, switching)
    case (.deliverThenFetch(let skipsEqual), let found?):
      let old = response(found, isProvisional: true)
      let fetched = fetch(found)
      guard skipsEqual else { return deliver(old, switching).concat(fetched) }
      return deliver(old, switching).concat(
        fetched.filter { $0.status != old.status || $0.body != old.body || old.cached?.isRefused == true })
    case (.fetchUnlessOutage, let found?):
      return saving(fetch(found), by: found)
    }
  }

  /// Emits the stored response if `fetched` fails or reports a server problem (RFC 5861 §4).
  private func saving(_ fetched: Observable<Response>, by found: Found) -> Observable<Response> {
    fetched.map { [self] in Self.isOutage($0) ? try standIn(found) : $0 }
      .catchError { [self] error in Self.isOutage(error) ? .just(try standIn(found)) : .error(error) }
  }

  private func standIn(_ found: Found) throws -> Response {
    if let failure { throw failure }
    guard isOfSameAccount else { throw CallAccounts.signedOut(request) }
    return response(found)
  }

  /// Whether the closure of the app still states the account of the key.
  private var isOfSameAccount: Bool { interceptor.account == nil || key(for: token) == key }

  /// The error if a user of the call has signed out, who must not receive a stored response.
  private var failure: NetworkError? { next.network.logins.signOut(of: request) }

  /// Emits the server's response, stored if that is allowed. The server may revalidate the found entry instead.
  private func fetch(_ found: Found?) -> Observable<Response> {
    var conditional = request
    // An unreadable entry must be fetched again, not revalidated.
    if let entry = found?.entry, !entry.isDistrusted { conditional.headers = request.headers.merging(entry.validators) }
    let sent = conditional
    return .deferred { [self] in
      let start = (time: now, changes: cache.changes)
      return next(sent).flatMap { [self] response -> Observable<Response> in
        guard response.status == 304, let found, sent.headers.count > request.headers.count else {
          return .just(kept(response, start, insteadOf: found))
        }
        let url = found.entry.url.flatMap(URL.init(string:)) ?? request.url
        guard found.entry.isConfirmed(by: response.headers),
          response.concernsUser(of: request),
          isItsOwn(response) || CacheKey.stable(url) == CacheKey.stable(response.url)
        else {
          // The 304 refers to a response that is not stored, as after a redirect.
          cache.remove(key)
          return fetch(nil)
        }
        return .just(confirmed(found.entry, by: response, start))
      }
    }
  }

  /// Returns whether `response` has the request's own URL, which a signature added after the cache changes.
  private func isItsOwn(_ response: Response) -> Bool {
    response.url == request.url
      || (request.context[Signing.self] != nil && response.redirects.isEmpty)
  }

  private func confirmed(_ entry: CacheEntry, by response: Response, _ start: Start) -> Response {
    let entry = entry.confirmed(
      by: response.headers, requestedAt: start.time, receivedAt: now, tags: CacheTags.all(of: request))
    var context = Context()
    context[SourceKey.self] = .revalidated
    let merged = entry.response(to: request, context: context)
    // A response for one token must not be used for another token, even if the server has validated it.
    guard carriedOut(retention(of: entry.headers, from: response)) == key else { return merged }
    return stored(entry, key, merged, start)
  }

  private func kept(_ response: Response, _ start: Start, insteadOf found: Found?) -> Response {
    guard response.file == nil, response.source == .network else { return response }
    let entry = CacheEntry(
      status: response.status, url: isItsOwn(response) ? nil : response.url.absoluteString,
      headers: response.headers, body: response.body, requestedAt: start.time, receivedAt: now,
      hasQuery: request.url.query != nil, tags: CacheTags.all(of: request))
    let decision = retention(of: entry, from: response, hasEntry: found != nil)
    return carriedOut(decision).map { stored(entry, $0, response, start) } ?? response
  }

  /// Removes the current entry and reports the reason, as decided. Returns the key to store the response under.
  private func carriedOut(_ decision: CacheRetention) -> String? {
    switch decision {
    case .store(let key): return key
    case .remove(let report):
      if let report { cache.report(report) }
      cache.remove(key)
    case .leave(let report):
      if let report { cache.report(report) }
    }
    return nil
  }

  /// Stores `entry` and returns `response` with a reference to it, so that reading failures can be reported.
  private func stored(_ entry: CacheEntry, _ key: String, _ response: Response, _ start: Start) -> Response {
    let entry = request.caching.lifetime.map { entry.expiring(after: $0.inSeconds) } ?? entry
    cache.store(entry, for: key, headers: request.headers, since: start.changes)
    var response = response
    response.cached = cache.reference(to: entry, of: key, for: request.headers)
    return response
  }

  private func response(_ found: Found, isProvisional: Bool = false) -> Response {
    cache.response(found, to: request, at: now, isProvisional: isProvisional)
  }
}

/// Emits a response of the cache on the mapping scheduler.
final class CachedDelivery: StreamSource {
  private let response: Response
  private let network: Network

  init(_ response: Response, _ next: InterceptorChain) { (self.response, network) = (response, next.network) }

  func start(_ sink: Sink<Response>) {
    network.runOnMappingQueue { [response] in
      guard !sink.subscription.isStopped else { return }
      sink.deliver(response)
      sink.subscription.complete()
    }
  }
}
