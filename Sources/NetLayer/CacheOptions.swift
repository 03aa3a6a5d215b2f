/// The cache options of a call, set by an ``Endpoint`` and carried to the ``CacheInterceptor`` as `request.caching`.
public struct CacheOptions: Sendable {
  /// The cache policy; `nil` for the policy of the backend's `CacheInterceptor`.
  public var policy: CachePolicy?
  /// Whether the response must come from the server, whatever the policy and the freshness of a stored response.
  package var isRefetch = false
  /// The key of the stored response, combined with method and account; `nil` for the URL with its parameters in a
  /// stable order.
  ///
  /// Use it for URLs that differ although the response is the same, for example by a timestamp or a signature. If the
  /// `CacheInterceptor` has no `account`, parameters that `Redaction` hides as secrets are still part of the key, and
  /// so is an in-memory body that contains secrets.
  public var key: String?
  /// Whether the body is part of the key of the stored response.
  ///
  /// Use it for read-only calls that are sent as `POST`. Without this or a `key`, only `GET` and `HEAD` requests
  /// without a body are cached. It requires a `policy` other than `http`.
  public var includesBody: Bool
  /// The maximum storage time; `nil` to keep the response until its space is needed. A stored response expires
  /// immediately after a time of zero or less.
  public var lifetime: Duration?
  /// A rule that decides whether to store a response, in addition to the backend's own rule; `nil` to apply only that
  /// rule. The closure is called on the `mapping` scheduler.
  public var allowsStorage: (@Sendable (Response) -> Bool)?
  /// The type of the endpoint that set the options. Closures of one endpoint type are treated as equal; other closures
  /// can't be compared.
  var endpoint: ObjectIdentifier?
  var labels: CallTags?

  /// Creates options. See the properties for the defaults.
  public init(
    policy: CachePolicy? = nil, key: String? = nil, includesBody: Bool = false, lifetime: Duration? = nil,
    allowsStorage: (@Sendable (Response) -> Bool)? = nil
  ) {
    self.policy = policy
    self.key = key
    self.includesBody = includesBody
    self.lifetime = lifetime
    self.allowsStorage = allowsStorage
  }

  var isDefault: Bool {
    policy == nil && !isRefetch && key == nil && !includesBody && lifetime == nil && allowsStorage == nil
      && labels == nil
  }

  var isComparable: Bool { allowsStorage == nil || endpoint != nil }

  /// The values that two comparable options must share to be equivalent for the cache.
  struct Identity: Hashable {
    let policy: CachePolicy?
    let isRefetch: Bool
    let key: String?
    let includesBody: Bool
    let lifetime: Duration?
    let endpoint: ObjectIdentifier?
    let labels: CallTags?
  }

  var identity: Identity {
    Identity(
      policy: policy, isRefetch: isRefetch, key: key, includesBody: includesBody, lifetime: lifetime,
      endpoint: allowsStorage == nil ? nil : endpoint, labels: labels)
  }
}

private enum CacheOptionsKey: ContextKey { static let defaultValue = CacheOptions() }

extension Request {
  /// The cache options of the request.
  public var caching: CacheOptions {
    get { context[CacheOptionsKey.self] }
    set {
      var options = newValue
      // An interceptor that creates new options does not know these.
      let known = context[CacheOptionsKey.self]
      options.labels = options.labels ?? known.labels
      options.isRefetch = options.isRefetch || known.isRefetch
      context[CacheOptionsKey.self] = options
    }
  }
}

/// A policy that determines how a call uses the cache of its backend.
///
/// All policies except `http` use any stored success, regardless of the freshness that the server declares, and store
/// every success. Responses with `no-store` are never stored.
public struct CachePolicy: Sendable, Hashable {
  enum Kind: Hashable {
    case http, networkOnly, cacheOnly, networkElseCache
    case cacheFirst(maxAge: Duration)
    case cacheThenNetwork(skipsEqual: Bool)
  }

  let kind: Kind

  /// Follows the header fields as RFC 9111 requires: the default of a backend that has a cache.
  public static let http = CachePolicy(kind: .http)
  /// Always requests the server and stores the response.
  public static let networkOnly = CachePolicy(kind: .networkOnly)
  /// Never requests the server. Without a stored response, the call fails with an error of kind `notCached`.
  public static let cacheOnly = CachePolicy(kind: .cacheOnly)
  /// Uses a stored response that is younger than `maxAge`, else requests the server. No response is younger than zero.
  public static func cacheFirst(maxAge: Duration) -> CachePolicy { CachePolicy(kind: .cacheFirst(maxAge: maxAge)) }
  /// Emits the stored response, if there is one, then the server's response. `endpoint.cache.request()` emits both; all
  /// other calls emit only the second.
  ///
  /// If the request fails, the error follows the stored response. With `skipsEqual`, the second response is omitted if
  /// its status and body equal the first response's.
  public static func cacheThenNetwork(skipsEqual: Bool = false) -> CachePolicy {
    CachePolicy(kind: .cacheThenNetwork(skipsEqual: skipsEqual))
  }
  /// Requests the server; uses a stored response of any age if there is no response or its status is 500, 502, 503 or
  /// 504.
  public static let networkElseCache = CachePolicy(kind: .networkElseCache)
}
