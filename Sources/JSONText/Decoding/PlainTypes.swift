import Synchronization

/// A cache of types that are known not to conform to a protocol.
///
/// A failed conformance check takes longer than decoding a small model. The table has a fixed size: two types in one
/// slot replace each other, and are then as slow as without the cache.
package final class PlainTypes: @unchecked Sendable {  // safe: the pointer never changes, the slots are atomic
  // Every decoding thread reads and writes slots; a lost entry is checked again.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>
  private static let count = 64

  /// Creates an empty table.
  package init() {
    slots = .allocate(capacity: Self.count)
    for slot in 0..<Self.count { (slots + slot).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: Self.count)
    slots.deallocate()
  }

  /// Returns whether `type` conforms, according to the cache, or else to `ask`.
  @inline(__always)
  package func conforms(_ type: Any.Type, _ ask: () -> Bool) -> Bool {
    // A type keeps its address while the program runs.
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = slots + Int(truncatingIfNeeded: (address >> 4) % UInt(Self.count))
    if slot.pointee.load(ordering: .relaxed) == address { return false }
    guard !ask() else { return true }
    slot.pointee.store(address, ordering: .relaxed)
    return false
  }
}
