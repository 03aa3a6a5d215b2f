/// How long an answer is fresh, and how old it is (RFC 9111 §4.2).
struct Freshness: Sendable {
  /// For how many seconds of age it is fresh.
  let lifetime: Double
  /// How old it was when it came.
  private let initialAge: Double
  private let receivedAt: Double
  /// What the server says about keeping it.
  let control: CacheControl

  init(status: Int, headers: HTTPHeaders, requestedAt: Double, receivedAt: Double, hasQuery: Bool) {
    self.receivedAt = receivedAt
    control = CacheControl(headers)
    let date = headers.values(of: "Date").first.flatMap { HTTPDate.seconds($0, now: receivedAt) }
    let age = headers.values(of: "Age").first.map { text in
      text.allSatisfy { $0.isASCII && $0.isNumber } ? min(Double(text) ?? 0, 2_147_483_648) : 0
    }
    let apparent = max(0, receivedAt - (date ?? receivedAt))
    initialAge = max(apparent, (age ?? 0) + max(0, receivedAt - requestedAt))
    if let seconds = control.seconds("max-age") {
      lifetime = seconds
    } else if let text = headers.values(of: "Expires").first {
      // What is no date, "0" above all, has expired (RFC 9111 §5.3).
      lifetime = HTTPDate.seconds(text, now: receivedAt).map { max(0, $0 - (date ?? receivedAt)) } ?? 0
    } else if !hasQuery, Self.heuristic.contains(status) || control.has("public"),
      let changed = headers.values(of: "Last-Modified").first.flatMap({ HTTPDate.seconds($0, now: receivedAt) })
    {
      // A tenth of the time that it has not changed for, the usual share (RFC 9111 §4.2.2).
      lifetime = max(0, ((date ?? receivedAt) - changed) / 10)
    } else {
      lifetime = 0
    }
  }

  /// The age in seconds. A clock that was set back makes it no younger than the step.
  func age(at now: Double) -> Double { initialAge + abs(now - receivedAt) }

  /// The statuses whose answers may be kept without a word about it (RFC 9110 §15.1), but for 206 and redirects.
  static let heuristic: Set<Int> = [200, 203, 204, 300, 404, 405, 410, 414, 501]
}

extension Freshness {
  /// What to do with a kept answer.
  enum Verdict: Equatable {
    /// It is fresh.
    case fresh
    /// It is stale, but the request takes it so.
    case stale
    /// It is stale; it may be used while the server is asked for a newer one (RFC 5861 §3).
    case staleWhileRevalidate
    /// The server must be asked first.
    case validate
  }

  /// Whether the answer may be used for a request that says `wish`, without asking the server (RFC 9111 §4).
  func verdict(for wish: CacheControl, at now: Double) -> Verdict {
    guard !control.has("no-cache"), !wish.has("no-cache") else { return .validate }
    let age = age(at: now)
    let lifetime = min(lifetime, wish.seconds("max-age") ?? .infinity)
    let left = lifetime - age
    if left > 0, left >= wish.seconds("min-fresh") ?? 0 { return .fresh }
    guard !control.has("must-revalidate"), wish.seconds("min-fresh") == nil else { return .validate }
    if let limit = wish.maxStale, -left <= limit { return .stale }
    if let limit = control.seconds("stale-while-revalidate"), age - self.lifetime <= limit,
      wish.seconds("max-age") == nil
    {
      return .staleWhileRevalidate
    }
    return .validate
  }

  /// Whether the answer may stand in for one that failed (RFC 5861 §4).
  func standsIn(for wish: CacheControl, at now: Double) -> Bool {
    guard !control.has("no-cache"), !control.has("must-revalidate") else { return false }
    let limits = [control.seconds("stale-if-error"), wish.seconds("stale-if-error")].compactMap(\.self)
    return limits.contains { age(at: now) - lifetime <= $0 }
  }

  /// Whether a private cache that understands all statuses may keep an answer (RFC 9111 §3).
  static func isStorable(status: Int, headers: HTTPHeaders, wish: CacheControl) -> Bool {
    let control = CacheControl(headers)
    guard status >= 200, status != 206, !redirects.contains(status), keeps(control, wish) else { return false }
    return control.has("public") || control.has("private") || control.has("max-age") || headers["Expires"] != nil
      || heuristic.contains(status)
  }

  /// Whoever follows redirects must not be given a kept one, and keys do not tell who does.
  private static let redirects: Set<Int> = [301, 302, 303, 304, 307, 308]

  /// Whether neither side forbids to keep an answer. Who understands the status need not obey a `no-store` that is there
  /// for those who do not (RFC 9111 §5.2.2.3).
  static func keeps(_ control: CacheControl, _ wish: CacheControl) -> Bool {
    !wish.has("no-store") && (!control.has("no-store") || control.has("must-understand"))
  }
}
