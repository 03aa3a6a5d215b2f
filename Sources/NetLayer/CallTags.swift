/// The tags of a call. It is a class, so that calls without tags only copy a `nil`.
final class CallTags: Sendable, Hashable {
  /// The tags of the data that the call returns, which stored responses have, too.
  let tags: Set<CacheTag>
  let invalidates: Set<CacheTag>

  init?(tags: Set<CacheTag>, invalidates: Set<CacheTag>) {
    if tags.isEmpty, invalidates.isEmpty { return nil }
    (self.tags, self.invalidates) = (tags, invalidates)
  }

  /// Returns whether a response to a request with `a` may be shared with one with `b`.
  static func == (a: CallTags, b: CallTags) -> Bool { a === b || a.tags == b.tags }

  func hash(into hasher: inout Hasher) { hasher.combine(tags) }
}

extension CacheOptions {
  package var tags: Set<CacheTag> {
    get { labels?.tags ?? [] }
    set { labels = CallTags(tags: newValue, invalidates: invalidates) }
  }
  package var invalidates: Set<CacheTag> {
    get { labels?.invalidates ?? [] }
    set { labels = CallTags(tags: tags, invalidates: newValue) }
  }
}
