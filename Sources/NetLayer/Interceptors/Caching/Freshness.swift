import PortableFoundation

/// The freshness lifetime and the age of a response (RFC 9111 §4.2).
package struct Freshness: Sendable {
  /// The age in seconds up to which the response is fresh.
  package let lifetime: Double
  /// The age in seconds on arrival.
  private let initialAge: Double
  private let receivedAt: Double
  let control: CacheControl

  package init(status: Int, headers: HTTPHeaders, requestedAt: Double, receivedAt: Double, hasQuery: Bool) {
    self.receivedAt = receivedAt
    control = CacheControl(headers)
    let date = headers.values(of: "Date").first.flatMap { HTTPDate.seconds($0, now: receivedAt) }
    let age = headers.values(of: "Age").first.map { $0.isDigits ? min(Double($0) ?? 0, 2_147_483_648) : 0 }
    let apparent = max(0, receivedAt - (date ?? receivedAt))
    initialAge = max(apparent, (age ?? 0) + max(0, receivedAt - requestedAt))
    if let seconds = control.seconds("max-age") {
      lifetime = seconds
    } else if let text = headers.values(of: "Expires").first {
      // An invalid date, most often "0", means expired (RFC 9111 §5.3).
      lifetime = HTTPDate.seconds(text, now: receivedAt).map { max(0, $0 - (date ?? receivedAt)) } ?? 0
    } else if !hasQuery, Self.heuristic.contains(status) || control.has("public"),
      let changed = headers.values(of: "Last-Modified").first.flatMap({ HTTPDate.seconds($0, now: receivedAt) })
    {
      // A tenth of the time since the last change, the usual fraction (RFC 9111 §4.2.2).
      lifetime = max(0, ((date ?? receivedAt) - changed) / 10)
    } else {
      lifetime = 0
    }
  }

  /// Returns the age in seconds. Setting the clock back makes the response older, not younger.
  package func age(at now: Double) -> Double { initialAge + abs(now - receivedAt) }

  /// The statuses whose responses may be stored by default (RFC 9110 §15.1), except 206 and redirects.
  static let heuristic: Set<Int> = [200, 203, 204, 300, 404, 405, 410, 414, 501]
}

extension Freshness {
  enum Verdict: Equatable {
    case fresh
    /// The response is stale, but the request accepts it.
    case stale
    /// The response is stale, but may be used while it is revalidated in the background (RFC 5861 §3).
    case staleWhileRevalidate
    case validate
  }

  /// Returns the permitted use of the response for a request with the directives `requested` (RFC 9111 §4).
  func verdict(for requested: CacheControl, at now: Double) -> Verdict {
    guard !control.has("no-cache"), !requested.has("no-cache") else { return .validate }
    let age = age(at: now)
    let lifetime = min(lifetime, requested.seconds("max-age") ?? .infinity)
    let left = lifetime - age
    if left > 0, left >= requested.seconds("min-fresh") ?? 0 { return .fresh }
    guard !control.has("must-revalidate"), requested.seconds("min-fresh") == nil else { return .validate }
    if let limit = requested.maxStale, -left <= limit { return .stale }
    if let limit = control.seconds("stale-while-revalidate"), age - self.lifetime <= limit,
      requested.seconds("max-age") == nil
    {
      return .staleWhileRevalidate
    }
    return .validate
  }

  /// Whether the server allows a use of the response after it has become stale (RFC 5861).
  var isUsefulWhenStale: Bool {
    (control.seconds("stale-if-error") ?? 0) > 0 || (control.seconds("stale-while-revalidate") ?? 0) > 0
  }

  /// Returns whether the response may replace a failed response (RFC 5861 §4).
  func standsIn(for requested: CacheControl, at now: Double) -> Bool {
    guard !control.has("no-cache"), !control.has("must-revalidate") else { return false }
    let limits = [control.seconds("stale-if-error"), requested.seconds("stale-if-error")].compactMap(\.self)
    return limits.contains { age(at: now) - lifetime <= $0 }
  }

  /// Returns whether a private cache that understands all statuses may store a response (RFC 9111 §3).
  static func isStorable(status: Int, headers: HTTPHeaders, requested: CacheControl) -> Bool {
    let control = CacheControl(headers)
    guard status >= 200, status != 206, !redirects.contains(status), keeps(control, requested, status: status) else {
      return false
    }
    return control.has("public") || control.has("private") || control.has("max-age") || headers["Expires"] != nil
      || heuristic.contains(status)
  }

  /// The redirects, which are not stored: a client that follows redirects must not receive one, and keys don't contain
  /// that setting.
  private static let redirects: Set<Int> = [301, 302, 303, 304, 307, 308]

  /// Returns whether both client and server permit storage. With `must-understand`, only a response whose status is
  /// understood may be stored, and a `no-store` next to it is then ignored (RFC 9111 §5.2.2.3).
  static func keeps(_ control: CacheControl, _ requested: CacheControl, status: Int) -> Bool {
    guard !requested.has("no-store") else { return false }
    return control.has("must-understand") ? understood.contains(status) : !control.has("no-store")
  }

  /// The final statuses of RFC 9110 §15 but 206.
  private static let understood = Set(200...205).union(300...308).union(400...417).union([421, 422, 426])
    .union(500...505)
}
