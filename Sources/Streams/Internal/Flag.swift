import Synchronization

/// A flag that one thread sets and another reads.
@usableFromInline
package final class Flag: Sendable {
  // Guards only itself.
  private let raised = Atomic<Bool>(false)

  @usableFromInline
  package init() {}

  @usableFromInline
  package var isRaised: Bool { raised.load(ordering: .acquiring) }

  /// Sets the flag; returns whether this call changed it.
  @usableFromInline @discardableResult
  package func raise() -> Bool { !raised.exchange(true, ordering: .acquiringAndReleasing) }

  /// Clears the flag; returns whether this call changed it.
  func lower() -> Bool { raised.exchange(false, ordering: .acquiringAndReleasing) }
}
