extension Response {
  /// The source of a response.
  public enum Origin: Sendable, Hashable {
    /// The server.
    case network
    /// The cache, without a request to the server.
    ///
    /// `age` is the time in seconds since the server created or last validated the response (RFC 9111 §4.2.3).
    /// `isStale` is `true` if the age exceeds the freshness lifetime.
    case cache(age: Double, isStale: Bool)
    /// The cache, after the server has revalidated the response (304).
    case revalidated

    /// Whether the response came from the cache without a request to the server.
    public var isCache: Bool { if case .cache = self { true } else { false } }
  }

  /// The source of the response.
  public var origin: Origin {
    get { context[Origin.self] }
    set { context[Origin.self] = newValue }
  }
}

extension Response.Origin: ContextKey {
  /// The server.
  public static let defaultValue = Self.network
}
