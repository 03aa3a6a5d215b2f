import PortableFoundation

/// An answer as it is kept, or a list of the header fields that choose between several (`Vary.swift`). An object, as
/// every hit passes it on a few times.
final class CacheEntry: Sendable {
  /// The status; 0 for a list of variants.
  let status: Int
  /// The URL that answered, where it was not the one asked for.
  let url: String?
  /// The header fields; of a list, the name of each field that chooses as a `Vary`.
  let headers: HTTPHeaders
  /// The body; of a list, what the variants' keys begin with.
  let body: Data
  /// When it was asked for, in seconds since 1 January 2001.
  let requestedAt: Double
  /// When it came or was last confirmed.
  let receivedAt: Double
  /// When it must be forgotten; `infinity` for never.
  let expiresAt: Double
  /// Whether the URL asked for had a query: such answers have no heuristic lifetime.
  let hasQuery: Bool
  /// Whether someone could not read it: from then on it counts as stale. In memory only.
  let isDistrusted: Bool
  /// The tags by which it can be removed besides its key: `CacheTags` of the request's URL.
  let tags: [String]
  /// What follows from its header fields, so that a hit need not read them.
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

  /// The same, to be forgotten `seconds` after it came.
  func expiring(after seconds: Double) -> CacheEntry {
    CacheEntry(
      status: status, url: url, headers: headers, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: receivedAt + seconds, hasQuery: hasQuery, tags: tags)
  }

  /// The same, which someone could not read.
  var distrusted: CacheEntry {
    CacheEntry(
      status: status, url: url, headers: headers, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: expiresAt, hasQuery: hasQuery, isDistrusted: true, tags: tags)
  }

  /// What it costs to keep in memory, in bytes.
  var cost: Int { headers.reduce(256 + body.count) { $0 + 64 + $1.name.utf8.count + $1.value.utf8.count } }

  /// How old it is, in seconds (RFC 9111 §4.2.3).
  func age(at now: Double) -> Double { freshness.age(at: now) }

  /// The answer to `request` that it stands for.
  func response(to request: Request, origin: Response.Origin) -> Response {
    var response = Response(
      request: request, url: url.flatMap(URL.init(string:)), status: status, headers: headers, body: body)
    response.origin = origin
    return response
  }
}

extension CacheEntry {
  /// What makes a request ask whether this is still valid (RFC 9111 §4.3.1); empty where nothing can.
  var validators: HTTPHeaders {
    var fields = HTTPHeaders()
    if let tag = headers["ETag"] { fields["If-None-Match"] = tag }
    if let date = headers.values(of: "Last-Modified").first { fields["If-Modified-Since"] = date }
    return fields
  }

  /// Whether a 304 with `headers` is about this answer (RFC 9111 §4.3.4): its entity tag, if it has one, is the same.
  func isConfirmed(by headers: HTTPHeaders) -> Bool {
    func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
    guard let theirs = headers["ETag"], let ours = self.headers["ETag"] else { return true }
    return opaque(theirs) == opaque(ours)
  }

  /// The same answer with the fields of the 304 that confirmed it (RFC 9111 §3.2), as new as that.
  func confirmed(by headers: HTTPHeaders, requestedAt: Double, receivedAt: Double) -> CacheEntry {
    // What describes the body stays with the body.
    var update = headers
    for name in ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding"] {
      update[name] = nil
    }
    var merged = self.headers.merging(update)
    // The time that the answer had spent in caches before says nothing any more.
    if headers["Age"] == nil { merged["Age"] = nil }
    return CacheEntry(
      status: status, url: url, headers: merged, body: body, requestedAt: requestedAt, receivedAt: receivedAt,
      expiresAt: expiresAt, hasQuery: hasQuery, tags: tags)
  }
}
