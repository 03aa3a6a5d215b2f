/// How a call uses the cache of its back end (article rows 3.9 to 3.11).
///
/// All but `http` go by the success that is stored, whatever the server says about how long it is fresh, and store every
/// success. What a server sends with `no-store` is never kept.
public enum CachePolicy: Sendable, Hashable {
  /// What RFC 9111 makes of the header fields: the default of a back end that has a cache.
  case http
  /// The server is asked; the answer is stored.
  case networkOnly
  /// The server is not asked: without a stored answer the call fails with an error of kind `notCached`.
  case cacheOnly
  /// A stored answer that came at most so many seconds ago, else the server's.
  case cacheFirst(seconds: Double)
  /// The stored answer, if there is one, then the server's: `endpoint.cache.request()` gives both, every other call the
  /// second.
  ///
  /// A failure follows the stored answer as an error. With `skipsEqual`, the second is left out where status and body are
  /// those of the first.
  case cacheThenNetwork(skipsEqual: Bool = false)
  /// The server's answer; the stored one, however old, when there is none, or one of 500, 502, 503 and 504.
  case networkElseCache
}
