/// State of one subscription that only the subscription's serial events use (contract, law 2), so that it needs no
/// lock.
@usableFromInline
package final class Cell<Value>: @unchecked Sendable {  // safe: events of one subscription never overlap
  // Row i2.
  @exclusivity(unchecked) @usableFromInline var stored: Value

  @inlinable package init(_ value: Value) { stored = value }

  // Computed, because other modules would check the exclusivity of a stored property anyway.
  @inlinable package var value: Value {
    @inline(__always) _read { yield stored }
    @inline(__always) _modify { yield &stored }
  }
}
