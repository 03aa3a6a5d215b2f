extension Response {
  /// Where an answer came from.
  public enum Origin: Sendable, Hashable {
    /// The server, just now.
    case network
    /// The cache, without asking the server.
    ///
    /// `age` is the time since the server made it or last confirmed it, in seconds (RFC 9111 §4.2.3); `isStale` says
    /// whether that is longer than the server allows.
    case cache(age: Double, isStale: Bool)
    /// The cache, after the server has confirmed just now that nothing changed (304).
    case revalidated

    /// Whether the server had no part in it.
    public var isCache: Bool { if case .cache = self { true } else { false } }
  }

  /// Where it came from.
  public var origin: Origin {
    get { context[Origin.self] }
    set { context[Origin.self] = newValue }
  }
}

extension Response.Origin: ContextKey {
  /// The server.
  public static let defaultValue = Self.network
}
