import Synchronization

/// The stored answer behind a response: hears of it when the response could not be read.
@usableFromInline
final class CachedAnswer: Sendable, ContextKey {
  @usableFromInline static var defaultValue: CachedAnswer? { nil }

  private let cache: Cache
  private let entry: CacheEntry
  private let key: String
  private let headers: HTTPHeaders
  /// Whether the server's answer follows anyway, so that this one may be left out.
  let isProvisional: Bool
  /// Raised where the answer is mapped, read where the next one is.
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

  /// What was asked for could not be made of it.
  func refuse(_ error: any Error) {
    if (error as? NetworkError)?.kind.discreditsStored ?? true { refuse() }
  }

  /// Someone could not make of it what was asked for: whatever is wrong, the next call had better ask the server.
  func refuse() {
    wasRefused.store(true, ordering: .releasing)
    cache.distrust(entry, of: key, for: headers)
  }
}

extension Response {
  /// The cached answer that it is, if it is one.
  @usableFromInline var cached: CachedAnswer? {
    get { context[CachedAnswer.self] }
    set { context[CachedAnswer.self] = newValue }
  }
}
