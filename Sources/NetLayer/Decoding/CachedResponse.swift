import Synchronization

/// The stored entry of a response, to mark as unreadable if the response can't be read.
@usableFromInline
final class CachedResponse: Sendable, ContextKey {
  @usableFromInline static var defaultValue: CachedResponse? { nil }

  private let distrust: @Sendable () -> Void
  /// Whether the server's response follows anyway, so that this response may be omitted.
  let isProvisional: Bool
  /// Set where this response is mapped, and read where the next response is mapped.
  private let wasRefused = Atomic<Bool>(false)

  init(isProvisional: Bool, distrust: @escaping @Sendable () -> Void) {
    (self.isProvisional, self.distrust) = (isProvisional, distrust)
  }

  var asLast: CachedResponse { CachedResponse(isProvisional: false, distrust: distrust) }

  var isRefused: Bool { wasRefused.load(ordering: .acquiring) }

  func refuse(_ error: any Error) {
    if (error as? NetworkError)?.kind.discreditsStored ?? true { refuse() }
  }

  /// Marks the entry as unreadable, so that the next call requests the server.
  func refuse() {
    wasRefused.store(true, ordering: .releasing)
    distrust()
  }
}

extension Response {
  @usableFromInline var cached: CachedResponse? {
    get { context[CachedResponse.self] }
    set { context[CachedResponse.self] = newValue }
  }

  package func refuseStored(after error: any Error) { cached?.refuse(error) }
}
