import PortableFoundation

/// A cached response, or a list of the header fields that select between variants (`Vary.swift`).
final class CacheEntry: Sendable {
  /// The status; 0 for a list of variants.
  let status: Int
  /// The URL of the response, if it differs from the request's URL.
  let url: String?
  /// The header fields; in a list, a `Vary` with the name of each selecting field.
  let headers: HTTPHeaders
  /// The body; in a list, the prefix of the variants' keys.
  let body: Data
  /// The time of the request, in seconds since 1 January 2001.
  let requestedAt: Double
  /// The time of the response or of its last validation.
  let receivedAt: Double
  /// The time after which the entry is removed; `infinity` for never.
  let expiresAt: Double
  /// Whether the requested URL had a query, so that the response has no heuristic lifetime.
  let hasQuery: Bool
  /// Whether a reader failed on the entry, so that it counts as stale. Stored in memory only.
  let isDistrusted: Bool
  /// The tags by which the entry can be removed in addition to its key: `CacheTags` of the request's URL.
  let tags: [String]
  /// The freshness, derived from the header fields in advance, so that a hit does not parse them.
  let freshness: Freshness

  init(
    status: Int, url: String? = nil, headers: HTTPHeaders, body: Data, requestedAt: Double, receivedAt: Double,
    expiresAt: Double = .infinity, hasQuery: Bool = false, isDistrusted: Bool = false,
    tags: [String] = []
  ) {
    self.status = status
    self.url = url
    self.headers = headers
    self.body = body
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.expiresAt = expiresAt
    self.hasQuery = hasQuery
    self.isDistrusted = isDistrusted
    self.tags = tags
    freshness = Freshness(
      status: status, headers: headers, requestedAt: requestedAt, receivedAt: receivedAt, hasQuery: hasQuery)
  }

  /// Returns the same entry, which expires `seconds` after its arrival.
  func expiring(after seconds: Double) -> CacheEntry {
    CacheEntry(
      status: status, url: url, headers: headers, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: receivedAt + seconds, hasQuery: hasQuery, tags: tags)
  }

  var distrusted: CacheEntry {
    CacheEntry(
      status: status, url: url, headers: headers, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: expiresAt, hasQuery: hasQuery, isDistrusted: true, tags: tags)
  }

  /// The estimated memory size in bytes.
  var cost: Int { headers.reduce(256 + body.count) { $0 + 64 + $1.name.utf8.count + $1.value.utf8.count } }

  /// Returns the age in seconds (RFC 9111 §4.2.3).
  func age(at now: Double) -> Double { freshness.age(at: now) }

  /// Returns the entry as a response to `request` with the values of `context`. Pass `age` for a response without a
  /// request to the server, which has the field `Age` (RFC 9111 §5.1).
  func response(to request: Request, age: Double? = nil, context: Context) -> Response {
    var headers = headers
    if let age { headers["Age"] = String(Int64(min(age, 2_147_483_648))) }
    return Response(
      request: request, url: url.flatMap(URL.init(string:)), status: status, headers: headers, body: body,
      context: context)
  }
}

extension CacheEntry {
  /// The header fields that make a request conditional (RFC 9111 §4.3.1); empty without validators.
  var validators: HTTPHeaders {
    var fields = HTTPHeaders()
    if let tag = headers["ETag"], RequestCheck.isSendable(tag) { fields["If-None-Match"] = tag }
    if let date = headers.values(of: "Last-Modified").first, RequestCheck.isSendable(date) {
      fields["If-Modified-Since"] = date
    }
    return fields
  }

  /// The maximum number of fields of an entry and of the 304 that validates it, because each 304 may add fields.
  private static let maxFields = 1000

  /// Returns whether a 304 with `headers` validates this entry (RFC 9111 §4.3.4). Entity tags, if both have one, must
  /// be equal.
  func isConfirmed(by headers: HTTPHeaders) -> Bool {
    guard self.headers.count + headers.count <= Self.maxFields else { return false }
    func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
    guard let theirs = headers["ETag"], let ours = self.headers["ETag"] else { return true }
    return opaque(theirs) == opaque(ours)
  }

  /// Returns the same entry with the fields and the times of the 304 that validated it (RFC 9111 §3.2), and
  /// with `tags` if the current request has other ones.
  func confirmed(
    by headers: HTTPHeaders, requestedAt: Double, receivedAt: Double, tags: [String]? = nil
  ) -> CacheEntry {
    // Fields that describe the body keep their values.
    var update = headers
    for name in ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding"] {
      update[name] = nil
    }
    var merged = self.headers.merging(update)
    // The time that the response spent in other caches is no longer relevant.
    if headers["Age"] == nil { merged["Age"] = nil }
    return CacheEntry(
      status: status, url: url, headers: merged, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: expiresAt, hasQuery: hasQuery, tags: tags ?? self.tags)
  }
}
