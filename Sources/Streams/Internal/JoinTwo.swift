/// The stored elements of two sources that are joined: the difference between `zip` and `combineLatest`.
@usableFromInline
protocol Pair<First, Second>: Sendable {
  associatedtype First: Sendable
  associatedtype Second: Sendable

  /// Whether the first source has completed.
  var firstHasEnded: Bool { get set }
  /// Whether the second source has completed.
  var secondHasEnded: Bool { get set }
  /// Whether no result can follow.
  var isOver: Bool { get }
  /// Whether a result uses up its elements, so that it may be the last one.
  static var takesOnce: Bool { get }

  init()

  /// Stores `element`, or returns the element that completes the pair.
  mutating func put(first element: First) -> Second?
  /// Stores `element`, or returns the element that completes the pair.
  mutating func put(second element: Second) -> First?
}

/// A join of two sources, inlined into the caller.
@usableFromInline
final class JoinTwo<Elements: Pair>: @unchecked Sendable {  // safe: `elements` is used only inside the drain
  @usableFromInline let downstream: Subscription
  @usableFromInline let next: @Sendable (Elements.First, Elements.Second) throws -> Void
  // Serializes both sources, and guards the elements.
  @usableFromInline let drain = Drain()
  // Rows d, r and zip.
  @exclusivity(unchecked) @usableFromInline var elements = Elements()

  @inlinable
  init(_ downstream: Subscription, _ next: @escaping @Sendable (Elements.First, Elements.Second) throws -> Void) {
    self.downstream = downstream
    self.next = next
  }

  @inlinable
  func receive(first element: Elements.First) {
    drain.run { [self] in put(first: element) }
  }

  @inlinable
  func receive(second element: Elements.Second) {
    drain.run { [self] in put(second: element) }
  }

  @inlinable
  func put(first element: Elements.First) {
    if let other = elements.put(first: element) { emit(element, other) }
  }

  @inlinable
  func put(second element: Elements.Second) {
    if let other = elements.put(second: element) { emit(other, element) }
  }

  @inlinable
  func emit(_ first: Elements.First, _ second: Elements.Second) {
    guard !downstream.isStopped else { return }
    do { try next(first, second) } catch { downstream.fail(error) }
    if Elements.takesOnce, elements.isOver { downstream.complete() }
  }

  @usableFromInline
  func close(_ error: (any Error)?, isFirst: Bool) {
    drain.run { [self] in
      if let error { return downstream.fail(error) }
      if isFirst { elements.firstHasEnded = true } else { elements.secondHasEnded = true }
      if elements.isOver { downstream.complete() }
    }
  }
}

extension Observable {
  /// Joins two sources, and emits each pair of `elements` combined by `combine`.
  @inlinable
  init<Elements: Pair>(
    joining first: Observable<Elements.First>, _ second: Observable<Elements.Second>, _ elements: Elements.Type,
    _ combine: @escaping @Sendable (Elements.First, Elements.Second) throws -> Element
  ) {
    self.init(push: { subscription, next in
      let join = JoinTwo<Elements>(subscription) { try next(combine($0, $1)) }
      let firstScope = HandlerScope(subscription) { join.close($0, isFirst: true) }
      first.run(firstScope) { join.receive(first: $0) }
      let secondScope = HandlerScope(subscription) { join.close($0, isFirst: false) }
      second.run(secondScope) { join.receive(second: $0) }
    })
  }
}
