/// A name for data that several endpoints return or change, such as `posts` or `posts/7`.
///
/// ```swift
/// extension CacheTag {
///   static let posts: CacheTag = "posts"
/// }
/// ```
/// See ``Endpoint/tags``, ``Endpoint/invalidates`` and ``Network/invalidate(_:)-(Set<CacheTag>)``.
public struct CacheTag: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name.
  public let rawValue: String

  /// Creates a tag.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a tag from a literal.
  public init(stringLiteral value: String) { rawValue = value }
}
