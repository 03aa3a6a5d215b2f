import PortableFoundation

/// The fate of the stored entry after a response of the server. Deciding has no side effects;
/// ``CacheTransaction`` acts.
enum CacheRetention: Equatable {
  /// The response replaces it, stored under the key.
  case store(key: String)
  case remove(report: String? = nil)
  case leave(report: String? = nil)
}

extension CacheTransaction {
  /// Decides whether `entry`, made from `response`, is stored. `hasEntry` is `true` if the lookup found another one.
  func retention(of entry: CacheEntry, from response: Response, hasEntry: Bool) -> CacheRetention {
    let isSuccess = response.isSuccess && response.status != 206
    // A redirect of another origin has returned without the user's credentials: the response is neither the user's nor a statement
    // about the user. One that has not returned is what the request leads to.
    guard response.concernsUser(of: request) || Origin(response.url) != Origin(request.url) else { return .leave() }
    let isWithdrawn = Self.withdrawals.contains(response.status)
    if hasEntry, !isSuccess, Self.isOutage(response) { return .leave() }
    let decision = retention(of: response.headers, from: response, isFinal: isSuccess || isWithdrawn)
    guard case .store = decision else { return decision }
    guard policy == .http ? isWorthKeeping(entry) : isSuccess else {
      return isWithdrawn || isSuccess && hasEntry ? .remove() : .leave()
    }
    guard interceptor.allowsStorage(response), request.caching.allowsStorage?(response) ?? true else {
      return isWithdrawn ? .remove() : .leave()
    }
    return decision
  }

  /// Decides whether a response with the fields `headers` may be stored. Its key differs from the request's if the
  /// request was sent with a newer token. `isFinal` is `true` if fields that forbid storage also remove the current entry.
  func retention(of headers: HTTPHeaders, from response: Response, isFinal: Bool = true) -> CacheRetention {
    if headers["Vary"]?.contains("*") == true {
      let report = "a server sends Vary: *, so these responses are not stored (RFC 9111 §4.1)"
      return isFinal ? .remove(report: report) : .leave(report: report)
    }
    guard Freshness.keeps(CacheControl(headers), CacheControl(request.headers), status: response.status) else {
      return isFinal ? .remove() : .leave()
    }
    let account = interceptor.account(of: response.request, for: request)
    guard account.isKnown else {
      return .remove(
        report: "an interceptor after the cache adds credentials, so nothing is stored; set CacheInterceptor.account")
    }
    // Fields set by an interceptor after the cache are unknown during the lookup. Exceptions are the credentials of the
    // account, which is a part of the key.
    let unknown = ResponseCache.variantFields(headers).first { name in
      response.request.headers[name] != request.headers[name] && !interceptor.isOfAccount(name, in: response.request)
    }
    if let unknown {
      return .leave(
        report: "a response varies by \(unknown), which an interceptor after the cache sets, so it is not stored; "
          + "place that interceptor before the cache")
    }
    // A custom cache behind this one may have returned a response of another user.
    guard next.network.logins.receivers(of: request).accept(response) else { return .leave() }
    // Another user may have signed in meanwhile.
    guard key(for: token) == key, let key = key(for: account.token) else { return .leave() }
    return .store(key: key)
  }

  func key(for token: String?) -> String? {
    interceptor.key(of: request, policy: policy, token: token, transport: next.network.sharingIdentity(of: request))
  }

  /// Returns whether RFC 9111 allows storing the entry and the cache could ever use it. An entry that is never fresh
  /// and has no validator would only waste space. A response after a redirect belongs to another URL, and the
  /// redirect's cache fields are unknown here.
  private func isWorthKeeping(_ entry: CacheEntry) -> Bool {
    let requested = CacheControl(request.headers)
    let isOwn = entry.url.flatMap(URL.init(string:)).map { CacheKey.stable($0) == CacheKey.stable(request.url) } ?? true
    return isOwn && Freshness.isStorable(status: entry.status, headers: entry.headers, requested: requested)
      && (entry.freshness.lifetime > 0 || entry.validators.count > 0 || entry.freshness.isUsefulWhenStale)
  }

  /// The statuses of resources that no longer exist, at least not for this user.
  private static let withdrawals = [401, 403, 404, 410]

  static func isOutage(_ response: Response) -> Bool { isOutage(response.status) }

  /// Returns whether there was no response, or whether the token server is down.
  static func isOutage(_ error: any Error) -> Bool {
    guard let error = error as? NetworkError else { return false }
    return error.kind.isOutage || error.statusOfTokenServer.map(isOutage) ?? false
  }

  private static func isOutage(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
