/// How a call uses the cache of its back end: what an ``Endpoint`` says, and what a request carries to the
/// ``CacheInterceptor`` as `request.caching`.
public struct CacheOptions: Sendable {
  /// How the cache is used; `nil` is as the back end's `CacheInterceptor` says.
  public var policy: CachePolicy?
  /// What the stored answer is known by, together with method and account; `nil` is the URL with its parameters in a
  /// stable order.
  ///
  /// For URLs that differ where the answer does not, as with a time stamp or a signature in them. Without an `account` of
  /// the `CacheInterceptor`, parameters that `Redaction` hides as secrets still count, and so does a body in memory that
  /// has some.
  public var key: String?
  /// Whether the body is part of what the stored answer is known by.
  ///
  /// For reading calls that are sent as `POST`: without this or a `key`, only `GET` and `HEAD` without a body are ever
  /// cached. Takes a `policy` other than `http`.
  public var includesBody: Bool
  /// For how many seconds an answer may be kept at all; `nil` is until others need the room.
  public var expiry: Double?
  /// Whether to keep an answer, besides the back end's own rule; `nil` leaves it to that. Called on the `mapping`
  /// scheduler.
  public var allowsStorage: (@Sendable (Response) -> Bool)?
  /// The type of the endpoint that says this: closures of one type stand for one another, others can't be compared.
  var endpoint: ObjectIdentifier?

  /// The defaults that the properties describe, changed where arguments say so.
  public init(
    policy: CachePolicy? = nil, key: String? = nil, includesBody: Bool = false, expiry: Double? = nil,
    allowsStorage: (@Sendable (Response) -> Bool)? = nil
  ) {
    self.policy = policy
    self.key = key
    self.includesBody = includesBody
    self.expiry = expiry
    self.allowsStorage = allowsStorage
  }

  /// Whether nothing is said.
  var isDefault: Bool { identity == Self.defaultValue.identity && allowsStorage == nil }

  /// Whether others can be told to ask the same of the cache.
  var isComparable: Bool { allowsStorage == nil || endpoint != nil }

  /// What two must agree in to ask the same of the cache, where they are comparable.
  struct Identity: Hashable {
    let policy: CachePolicy?
    let key: String?
    let includesBody: Bool
    let expiry: Double?
    let endpoint: ObjectIdentifier?
  }

  var identity: Identity {
    Identity(
      policy: policy, key: key, includesBody: includesBody, expiry: expiry,
      endpoint: allowsStorage == nil ? nil : endpoint)
  }
}

extension CacheOptions: ContextKey {
  /// As the back end's `CacheInterceptor` says.
  public static var defaultValue: CacheOptions { CacheOptions() }
}

extension Request {
  /// How the back end's cache is used.
  public var caching: CacheOptions {
    get { context[CacheOptions.self] }
    set { context[CacheOptions.self] = newValue }
  }
}

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
