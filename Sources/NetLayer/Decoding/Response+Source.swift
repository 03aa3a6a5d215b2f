extension Response {
  /// The source of a response.
  public struct Source: Sendable, Hashable {
    /// The kind of a source. A struct, so that a new kind does not break the `switch` statements of users.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
      private enum Known { case network, cache, revalidated }

      private let known: Known

      /// The name of the kind.
      public var description: String { "\(known)" }

      /// The server.
      public static let network = Kind(known: .network)
      /// The cache, without a request to the server.
      public static let cache = Kind(known: .cache)
      /// The cache, after the server has revalidated the response (304).
      public static let revalidated = Kind(known: .revalidated)
    }

    /// The kind of the source.
    public let kind: Kind
    /// The time since the server created or last validated the response (RFC 9111 §4.2.3); `nil` unless the kind is
    /// `cache`.
    public let age: Duration?
    /// Whether the age exceeds the freshness lifetime; `false` unless the kind is `cache`.
    public let isStale: Bool

    /// The server.
    public static let network = Source(kind: .network, age: nil, isStale: false)
    /// The cache, without a request to the server.
    public static func cache(age: Duration, isStale: Bool) -> Source {
      Source(kind: .cache, age: age, isStale: isStale)
    }
    /// The cache, after the server has revalidated the response (304).
    public static let revalidated = Source(kind: .revalidated, age: nil, isStale: false)

    /// Whether the response came from the cache without a request to the server.
    public var isCache: Bool { kind == .cache }
  }

  /// The source of the response.
  public var source: Source {
    get { context[SourceKey.self] }
    set { context[SourceKey.self] = newValue }
  }
}

enum SourceKey: ContextKey { static let defaultValue = Response.Source.network }
