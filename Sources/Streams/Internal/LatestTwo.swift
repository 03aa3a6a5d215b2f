/// A `combineLatest` of two sources, inlined into the caller.
@usableFromInline
final class LatestTwo<First: Sendable, Second: Sendable>: @unchecked Sendable {
  // Safe: all mutable state is used only inside the drain, so no run-time checks of exclusivity are needed.
  @usableFromInline let downstream: Subscription
  @usableFromInline let next: @Sendable (First, Second) throws -> Void
  // Serializes both sources, and guards all mutable state.
  @usableFromInline let drain = Drain()
  @exclusivity(unchecked) @usableFromInline var first: First?
  @exclusivity(unchecked) @usableFromInline var second: Second?
  @exclusivity(unchecked) @usableFromInline var open = 2

  @inlinable
  init(_ downstream: Subscription, _ next: @escaping @Sendable (First, Second) throws -> Void) {
    self.downstream = downstream
    self.next = next
  }

  @inlinable
  func receive(first element: First) {
    drain.run { [self] in put(first: element) }
  }

  @inlinable
  func receive(second element: Second) {
    drain.run { [self] in put(second: element) }
  }

  @inlinable
  func put(first element: First) {
    first = element
    if let second { emit(element, second) }
  }

  @inlinable
  func put(second element: Second) {
    second = element
    if let first { emit(first, element) }
  }

  @inlinable
  func emit(_ first: First, _ second: Second) {
    guard !downstream.isStopped else { return }
    do { try next(first, second) } catch { downstream.fail(error) }
  }

  /// Handles the terminal event of a source. The result completes when a source without an element completes, or when
  /// both sources have completed (contract, law 12).
  @usableFromInline
  func close(_ error: (any Error)?, hadElement: @escaping @Sendable () -> Bool) {
    drain.run { [self] in
      if let error { return downstream.fail(error) }
      open -= 1
      if open == 0 || !hadElement() { downstream.complete() }
    }
  }
}
