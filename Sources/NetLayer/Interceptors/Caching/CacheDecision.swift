/// The step that follows a lookup. Deciding has no side effects; ``CacheTransaction`` acts.
enum CacheDecision: Equatable {
  case deliver
  /// Deliver the stored response, and revalidate it in the background (RFC 5861 §3).
  case deliverAndRevalidate
  case deliverThenFetch(skipsEqual: Bool)
  /// Send the request, and revalidate the stored response if there is one.
  case fetch
  /// The same, but deliver the stored response if the server is down (RFC 5861 §4).
  case fetchUnlessOutage
  case fail
  /// Deliver a 504 (RFC 9111 §5.2.1.7).
  case gatewayTimeout

  /// Decides for a request with the fields `headers` and the stored response `entry`, at `now`, in seconds since the
  /// reference date.
  init(policy: CachePolicy, headers: HTTPHeaders, entry: CacheEntry?, at now: Double) {
    switch policy.kind {
    case .http:
      self.init(http: CacheControl(headers), entry, now)
    case .networkOnly:
      self = .fetch
    case .cacheOnly:
      self = entry == nil ? .fail : .deliver
    case .cacheFirst(let maxAge):
      // Setting the clock back does not make an entry younger.
      let isYoung = entry.map { !$0.isDistrusted && abs(now - $0.receivedAt) < maxAge.inSeconds } ?? false
      self = isYoung ? .deliver : .fetch
    case .cacheThenNetwork(let skipsEqual):
      self = entry == nil ? .fetch : .deliverThenFetch(skipsEqual: skipsEqual)
    case .networkElseCache:
      self = entry == nil ? .fetch : .fetchUnlessOutage
    }
  }

  /// Decides as RFC 9111 §4 requires.
  private init(http requested: CacheControl, _ entry: CacheEntry?, _ now: Double) {
    let isOnlyIfCached = requested.has("only-if-cached")
    guard let entry else {
      self = isOnlyIfCached ? .gatewayTimeout : .fetch
      return
    }
    switch entry.isDistrusted ? .validate : entry.freshness.verdict(for: requested, at: now) {
    case .fresh, .stale: self = .deliver
    case .staleWhileRevalidate: self = isOnlyIfCached ? .deliver : .deliverAndRevalidate
    case .validate where isOnlyIfCached: self = .gatewayTimeout
    case .validate: self = entry.freshness.standsIn(for: requested, at: now) ? .fetchUnlessOutage : .fetch
    }
  }
}
