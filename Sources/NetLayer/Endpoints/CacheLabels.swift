/// The tags of a call, and whether it is a refetch. It is a class, so that calls without them only copy a `nil`.
final class CacheLabels: Sendable, Hashable {
  /// The tags of the data that the call returns, which stored responses have, too.
  let tags: Set<CacheTag>
  /// The tags of the data that the call changes.
  let invalidates: Set<CacheTag>
  /// Whether the response must come from the server, whatever the policy and the freshness of a stored response.
  let isRefetch: Bool

  /// Creates labels, or `nil` for none.
  init?(tags: Set<CacheTag>, invalidates: Set<CacheTag>, isRefetch: Bool = false) {
    if tags.isEmpty, invalidates.isEmpty, !isRefetch { return nil }
    (self.tags, self.invalidates, self.isRefetch) = (tags, invalidates, isRefetch)
  }

  /// Returns whether a response to a request with `a` may be shared with one with `b`.
  static func == (a: CacheLabels, b: CacheLabels) -> Bool {
    a === b || (a.tags == b.tags && a.isRefetch == b.isRefetch)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(tags)
    hasher.combine(isRefetch)
  }
}

extension CacheOptions {
  /// The tags of the endpoint.
  package var tags: Set<CacheTag> {
    get { labels?.tags ?? [] }
    set { labels = CacheLabels(tags: newValue, invalidates: invalidates, isRefetch: isRefetch) }
  }
  package var invalidates: Set<CacheTag> {
    get { labels?.invalidates ?? [] }
    set { labels = CacheLabels(tags: tags, invalidates: newValue, isRefetch: isRefetch) }
  }
  package var isRefetch: Bool {
    get { labels?.isRefetch ?? false }
    set { labels = CacheLabels(tags: tags, invalidates: invalidates, isRefetch: newValue) }
  }
}
