extension ObservableType {
  /// Emits each element combined with the latest element of `second`; drops elements that arrive before `second` has
  /// emitted.
  ///
  /// The terminal event of the source ends the stream and disposes `second` (contract, law 16); an error of either
  /// stream fails the result.
  ///
  ///     source:         -a----b-c-|
  ///     second:         ---1---2
  ///     withLatestFrom: ------A-B-|    A = (b, 1), B = (c, 2)
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType, Result: Sendable>(
    _ second: Second, resultSelector: @escaping @Sendable (Element, Second.Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    let other = second.asObservable()
    return Observable<Result>(push: { subscription, next in
      let join = WithLatest<Element, Second.Element>(subscription) { try next(resultSelector($0, $1)) }
      let otherScope = HandlerScope(subscription, waits: false) { if let error = $0 { join.finish(error) } }
      other.run(otherScope) { join.receive(second: $0) }
      let sourceScope = HandlerScope(subscription) { join.finish($0) }
      source.run(sourceScope) { join.receive(first: $0) }
    })
  }

  /// Emits the latest element of `second` for each element of this stream; drops elements before `second` has emitted.
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Second.Element> {
    withLatestFrom(second) { $1 }
  }
}

/// The state of a `withLatestFrom`: the latest element of its second stream.
@usableFromInline
final class WithLatest<First: Sendable, Second: Sendable>: Sendable {
  @usableFromInline let downstream: Subscription
  @usableFromInline let next: @Sendable (First, Second) throws -> Void
  // Serializes the combined elements and the ends.
  @usableFromInline let drain = Drain()
  // Not in the drain: while the observer is busy, elements of the second stream replace one another instead of waiting.
  @usableFromInline let latest = Locked<Second?>(nil)

  @inlinable
  init(_ downstream: Subscription, _ next: @escaping @Sendable (First, Second) throws -> Void) {
    self.downstream = downstream
    self.next = next
  }

  @inlinable
  func receive(first element: First) {
    guard let second = latest.withLock({ $0 }) else { return }
    drain.run { [self] in put(element, second) }
  }

  @inlinable
  func receive(second element: Second) {
    latest.release { exchange(&$0, with: element) }
  }

  @inlinable
  func put(_ first: First, _ second: Second) {
    guard !downstream.isStopped else { return }
    do { try next(first, second) } catch { downstream.fail(error) }
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    drain.run { [downstream] in downstream.finish(error) }
  }
}
