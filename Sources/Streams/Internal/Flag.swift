import Synchronization

/// A flag that one thread raises and another asks for.
@usableFromInline
package final class Flag: Sendable {
  // Guards nothing but itself.
  private let raised = Atomic<Bool>(false)

  @usableFromInline
  package init() {}

  @usableFromInline var isRaised: Bool { raised.load(ordering: .acquiring) }

  /// Returns whether this call was the one that raised it.
  @usableFromInline @discardableResult
  package func raise() -> Bool { !raised.exchange(true, ordering: .acquiringAndReleasing) }

  /// Returns whether this call was the one that lowered it.
  func lower() -> Bool { raised.exchange(false, ordering: .acquiringAndReleasing) }
}
