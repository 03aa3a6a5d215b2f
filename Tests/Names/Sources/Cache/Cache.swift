import NetLayer

/// A cache of the app, with the name of its module.
public struct Cache: Sendable {
  /// The interceptor that reads and writes it.
  public let interceptor = CacheInterceptor(ResponseCache(storingIn: nil))

  /// Creates an empty cache.
  public init() {}
}
