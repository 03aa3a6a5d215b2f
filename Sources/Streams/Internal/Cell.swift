/// State of one subscription that only the subscription's serial events use (contract, law 2), so that it needs no
/// lock.
@usableFromInline
final class Cell<Value>: @unchecked Sendable {  // safe: events of one subscription never overlap and are ordered
  @usableFromInline var value: Value

  @inlinable init(_ value: Value) { self.value = value }
}
