import Streams
import Synchronization

/// What an endpoint says to the cache besides its policy. An object, so that requests of endpoints without it stay small.
final class Caching: Sendable, Hashable {
  /// Whose options they are: two of one type that agree in the rest are the same.
  private let endpoint: ObjectIdentifier
  let key: String?
  let hasBody: Bool
  /// Seconds.
  let expiry: Double?
  let allowsStorage: (@Sendable (Response) -> Bool)?

  /// `nil` for an endpoint that leaves all of it to the defaults.
  init?<E: Endpoint>(_ endpoint: E) {
    self.endpoint = ObjectIdentifier(E.self)
    key = endpoint.cachedKey
    hasBody = endpoint.cachesByBody
    expiry = endpoint.expiry
    allowsStorage = endpoint.allowsStorage
    guard key != nil || hasBody || expiry != nil || allowsStorage != nil else { return nil }
  }

  static func == (a: Caching, b: Caching) -> Bool {
    (a.endpoint, a.key, a.hasBody, a.expiry) == (b.endpoint, b.key, b.hasBody, b.expiry)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(endpoint)
    hasher.combine(key)
  }
}

/// The stored answer behind a response: hears of it when the response could not be read.
final class CachedAnswer: Sendable {
  private let cache: Cache
  private let entry: CacheEntry
  private let key: String
  private let headers: HTTPHeaders
  /// Whether the server's answer follows anyway, so that this one may be left out.
  let isProvisional: Bool
  private let wasRefused = Atomic<Bool>(false)

  /// `entry` as the answer of `key` to a request with the fields `headers`.
  init(_ cache: Cache, _ entry: CacheEntry, key: String, headers: HTTPHeaders, isProvisional: Bool = false) {
    self.cache = cache
    self.entry = entry
    self.key = key
    self.headers = headers
    self.isProvisional = isProvisional
  }

  /// The same where no answer follows.
  var asLast: CachedAnswer { CachedAnswer(cache, entry, key: key, headers: headers) }

  /// Whether it could not be read.
  var isRefused: Bool { wasRefused.load(ordering: .acquiring) }

  /// Someone could not make of it what was asked for: whatever is wrong, the next call had better ask the server.
  func refuse() {
    wasRefused.store(true, ordering: .releasing)
    cache.distrust(entry, of: key, for: headers)
  }
}
