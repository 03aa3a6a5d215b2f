import PortableFoundation
import Streams

/// The processing of one request by the cache, at each subscription.
final class CacheTransaction: StreamSource {
  typealias Found = ResponseCache.Match
  /// The start of a request: the time and the cache's count of changes.
  private typealias Start = (time: Double, changes: UInt64)

  let interceptor: CacheInterceptor
  let request: Request
  let key: String
  /// The token that is part of the key.
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
  /// The time in seconds since the reference date.
  private var now: Double { next.clock.now.timeIntervalSinceReferenceDate }

  func start(_ sink: Sink<Response>) {
    responses().run(sink.subscription, sink.next)
  }

  private func responses() -> Observable<Response> {
    if policy == .networkOnly { return fetch(nil) }
    switch cache.find(key, for: request.headers) {
    // The caller's thread may be the main one.
    case .now(let found): return answer(found, switching: true)
    case .later(let search):
      return search.observeOn(next.mapping).asObservable().flatMap { [self] in answer($0, switching: false) }
    }
  }

  /// Emits a response of the cache, after a switch to the mapping scheduler if `switching` is `true`.
  private func deliver(_ response: Response, _ switching: Bool) -> Observable<Response> {
    switching ? Observable(CachedAnswer(response, next)) : .just(response)
  }

  /// Emits the responses that the policy requires for the result of the lookup.
  private func answer(_ found: Found?, switching: Bool) -> Observable<Response> {
    if policy == .http { return http(found, switching) }
    // A stored response that is not a success, even a fresh one, does not replace a success.
    let found = found.flatMap { (200...299).contains($0.entry.status) ? $0 : nil }
    switch policy.kind {
    case .http:
      return http(found, switching)
    case .networkOnly:
      return fetch(nil)
    case .cacheOnly:
      guard let found else { return CacheInterceptor.notCached(request, next) }
      return deliver(response(found), switching)
    case .cacheFirst(let maxAge):
      // Setting the clock back does not make an entry younger.
      if let found, !found.entry.isDistrusted, abs(now - found.entry.receivedAt) < maxAge.inSeconds {
        return deliver(response(found), switching)
      }
      return fetch(found)
    case .cacheThenNetwork(let skipsEqual):
      guard let found else { return fetch(nil) }
      let first = response(found, isProvisional: true)
      let second = fetch(found)
      guard skipsEqual else { return deliver(first, switching).concat(second) }
      return deliver(first, switching).concat(
        second.filter { response in
          let (old, new) = (first, response)
          return new.status != old.status || new.body != old.body || old.cached?.isRefused == true
        })
    case .networkElseCache:
      guard let found else { return fetch(nil) }
      return saving(fetch(found), by: found)
    }
  }

  /// Emits the response that RFC 9111 requires for the result of the lookup.
  private func http(_ found: Found?, _ switching: Bool) -> Observable<Response> {
    let wish = CacheControl(request.headers)
    guard let found else {
      return wish.has("only-if-cached") ? deliver(CacheInterceptor.gatewayTimeout(request), switching) : fetch(nil)
    }
    let freshness = found.entry.freshness
    switch found.entry.isDistrusted ? .validate : freshness.verdict(for: wish, at: now) {
    case .fresh:
      return deliver(response(found), switching)
    case .stale:
      return deliver(response(found), switching)
    case .staleWhileRevalidate:
      let stale = response(found)
      if !wish.has("only-if-cached") { cache.refresh(found.key, fetch(found)) }
      return deliver(stale, switching)
    case .validate:
      if wish.has("only-if-cached") { return deliver(CacheInterceptor.gatewayTimeout(request), switching) }
      return freshness.standsIn(for: wish, at: now) ? saving(fetch(found), by: found) : fetch(found)
    }
  }

  /// Emits the stored response if `fetched` fails or reports a server problem (RFC 5861 §4).
  private func saving(_ fetched: Observable<Response>, by found: Found) -> Observable<Response> {
    fetched.map { [self] in Self.isOutage($0) ? response(found) : $0 }
      .catchError { [self] error in Self.isOutage(error) ? .just(response(found)) : .error(error) }
  }

  private static func isOutage(_ response: Response) -> Bool { [500, 502, 503, 504].contains(response.status) }

  /// Returns whether there was no response, including a token refresh that received none.
  private static func isOutage(_ error: (any Error)?) -> Bool {
    guard let error = error as? NetworkError else { return false }
    if error.kind == .authentication { return isOutage(error.underlying) }
    return error.kind.isOutage
  }

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
    let entry = entry.confirmed(by: response.headers, requestedAt: start.time, receivedAt: now)
    var context = Context()
    context[OriginKey.self] = .revalidated
    let answer = entry.response(to: request, context: context)
    // A response for one token must not be used for another token, even if the server has validated it.
    guard keyToKeep(entry.headers, of: response) == key else { return answer }
    return stored(entry, key, answer, start)
  }

  private func kept(_ response: Response, _ start: Start, insteadOf found: Found?) -> Response {
    guard response.file == nil, response.origin == .network else { return response }
    let isSuccess = response.isSuccess && response.status != 206
    let isWithdrawn = Self.withdrawals.contains(response.status)
    guard isSuccess || found == nil || !Self.isOutage(response),
      let keep = keyToKeep(response.headers, of: response, isFinal: isSuccess || isWithdrawn)
    else { return response }
    let entry = CacheEntry(
      status: response.status, url: isItsOwn(response) ? nil : response.url.absoluteString,
      headers: response.headers, body: response.body, requestedAt: start.time, receivedAt: now,
      hasQuery: request.url.query != nil, tags: CacheTags.all(of: request.url))
    guard policy == .http ? isWorthKeeping(entry) : isSuccess else {
      if isWithdrawn || isSuccess && found != nil { cache.remove(key) }
      return response
    }
    guard interceptor.allowsStorage(response), request.caching.allowsStorage?(response) ?? true else {
      if isWithdrawn { cache.remove(key) }
      return response
    }
    return stored(entry, keep, response, start)
  }

  /// The statuses of resources that no longer exist, at least not for this user.
  private static let withdrawals = [401, 403, 404, 410]

  /// Returns the key of a response with the fields `headers`. It differs from the request's key if the request was sent
  /// with a newer token. Returns `nil` if the response may not be stored; if its fields forbid storage altogether, the
  /// present entry is removed.
  private func keyToKeep(_ headers: HTTPHeaders, of response: Response, isFinal: Bool = true) -> String? {
    let variesByAll = headers["Vary"]?.contains("*") == true
    guard Freshness.keeps(CacheControl(headers), CacheControl(request.headers), status: response.status), !variesByAll
    else {
      if variesByAll { cache.tell("a server sends Vary: *, so these responses are not stored (RFC 9111 §4.1)") }
      if isFinal { cache.remove(key) }
      return nil
    }
    let account = interceptor.account(of: response.request, for: request)
    guard account.isKnown else {
      cache.remove(key)
      return nil
    }
    // Fields set by an interceptor after the cache are unknown during the lookup. Exceptions are the credentials of the
    // account, which is a part of the key.
    let unknown = ResponseCache.variantFields(headers).first { name in
      response.request.headers[name] != request.headers[name] && !interceptor.isOfAccount(name, in: response.request)
    }
    if let unknown {
      cache.tell(
        "a response varies by \(unknown), which an interceptor after the cache sets, so it is not stored; place that "
          + "interceptor before the cache")
      return nil
    }
    // Another user may have signed in meanwhile.
    guard self.key(token) == key else { return nil }
    return self.key(account.token)
  }

  private func key(_ token: String?) -> String? {
    interceptor.key(of: request, policy: policy, token: token, transport: next.network.transportIdentity)
  }

  /// Returns whether RFC 9111 allows storing the entry and the cache could ever use it. An entry that is never fresh
  /// and has no validator would only waste space. A response after a redirect belongs to another URL, and the
  /// redirect's cache fields are unknown here.
  private func isWorthKeeping(_ entry: CacheEntry) -> Bool {
    let wish = CacheControl(request.headers)
    let isOwn = entry.url.flatMap(URL.init(string:)).map { CacheKey.stable($0) == CacheKey.stable(request.url) } ?? true
    return isOwn && Freshness.isStorable(status: entry.status, headers: entry.headers, wish: wish)
      && (entry.freshness.lifetime > 0 || entry.validators.count > 0 || entry.freshness.isUsefulWhenStale)
  }

  /// Stores `entry` and returns `response` with a reference to it, so that reading failures can be reported.
  private func stored(_ entry: CacheEntry, _ key: String, _ response: Response, _ start: Start) -> Response {
    let entry = request.caching.expiry.map { entry.expiring(after: $0.inSeconds) } ?? entry
    cache.store(entry, for: key, headers: request.headers, since: start.changes)
    var response = response
    response.cached = CachedResponse(cache, entry, key: key, headers: request.headers)
    return response
  }

  private func response(_ found: Found, isProvisional: Bool = false) -> Response {
    let now = self.now
    let age = found.entry.age(at: now)
    let isStale = age >= found.entry.freshness.lifetime
    var context = Context()
    context[OriginKey.self] = .cache(age: Duration(clampingSeconds: age), isStale: isStale)
    context[CachedResponse.self] = CachedResponse(
      cache, found.entry, key: found.key, headers: request.headers, isProvisional: isProvisional)
    return found.entry.response(to: request, age: age, context: context)
  }
}

/// Emits a response of the cache on the mapping scheduler.
final class CachedAnswer: StreamSource {
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
