import Synchronization

/// The types that are known not to conform to some protocol.
///
/// The runtime takes longer to say no than a small model takes to decode. A table of fixed size: two types in one slot take
/// turns, and cost what they cost without it.
package final class PlainTypes: @unchecked Sendable {  // safe: the pointer never changes, the slots are atomic
  // Every decoding thread reads and writes a slot; a lost entry is asked for again.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>
  private static let count = 64

  /// An empty table.
  package init() {
    slots = .allocate(capacity: Self.count)
    for slot in 0..<Self.count { (slots + slot).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: Self.count)
    slots.deallocate()
  }

  /// Whether `type` conforms, by what is known of it or else by `ask`.
  @inline(__always)
  package func conforms(_ type: Any.Type, _ ask: () -> Bool) -> Bool {
    // A type stays where it is as long as the program runs.
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = slots + Int(truncatingIfNeeded: (address >> 4) % UInt(Self.count))
    if slot.pointee.load(ordering: .relaxed) == address { return false }
    guard !ask() else { return true }
    slot.pointee.store(address, ordering: .relaxed)
    return false
  }
}
