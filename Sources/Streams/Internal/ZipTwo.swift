/// A `zip` of two sources, inlined into the caller.
@usableFromInline
final class ZipTwo<First: Sendable, Second: Sendable>: @unchecked Sendable {
  // Safe: the queues and flags are used only inside the drain, so no run-time checks of exclusivity are needed.
  @usableFromInline let downstream: Subscription
  @usableFromInline let next: @Sendable (First, Second) throws -> Void
  // Serializes both sources, and guards all mutable state.
  @usableFromInline let drain = Drain()
  @exclusivity(unchecked) @usableFromInline var firsts = Queue<First>()
  @exclusivity(unchecked) @usableFromInline var seconds = Queue<Second>()
  @exclusivity(unchecked) @usableFromInline var firstClosed = false
  @exclusivity(unchecked) @usableFromInline var secondClosed = false

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
    if let other = seconds.popFirst() { emit(element, other) } else { firsts.append(element) }
  }

  @inlinable
  func put(second element: Second) {
    if let other = firsts.popFirst() { emit(other, element) } else { seconds.append(element) }
  }

  @inlinable
  func emit(_ first: First, _ second: Second) {
    guard !downstream.isStopped else { return }
    do { try next(first, second) } catch { downstream.fail(error) }
    completeIfExhausted()
  }

  /// Completes the result if a completed source has no queued elements (contract, law 11).
  @inlinable
  func completeIfExhausted() {
    if (firstClosed && firsts.isEmpty) || (secondClosed && seconds.isEmpty) { downstream.complete() }
  }

  @usableFromInline
  func close(_ error: (any Error)?, first: Bool) {
    drain.run { [self] in
      if let error { return downstream.fail(error) }
      if first { firstClosed = true } else { secondClosed = true }
      completeIfExhausted()
    }
  }
}
