extension ObservableType {
  /// Emits the elements of this stream, then the elements of `second`, which is subscribed when this stream has
  /// completed.
  ///
  ///     first:  -a--b-|
  ///     second: -c-|
  ///     concat: -a--b--c-|
  @inlinable
  public func concat<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Element>
  where Second.Element == Element {
    .concat([asObservable(), second.asObservable()])
  }

  /// The same for an `Observable`, so that `.just(x)` and the like need no type.
  @inlinable
  public func concat(_ second: Observable<Element>) -> Observable<Element> { .concat([asObservable(), second]) }
}

extension ObservableType where Element: ObservableConvertibleType {
  /// Emits the elements of the inner streams, one stream at a time, in order.
  ///
  /// Each inner stream is subscribed when the previous one has completed (contract, law 14); the first error fails the
  /// result.
  @inlinable
  public func concat() -> Observable<Element.Element> { merge(maxConcurrent: 1) }
}

extension Observable {
  /// Emits the elements of the streams in order, subscribing to each when the previous one has completed; an error ends
  /// the sequence.
  @inlinable
  public static func concat(_ sources: Observable<Element>...) -> Observable<Element> { concat(sources) }

  /// Emits the elements of the streams in order, subscribing to each when the previous one has completed; an error ends
  /// the sequence.
  ///
  /// The sequence may be lazy and infinite: the next stream is requested only when needed. A loop over `values` requests it
  /// when it has read the previous one.
  @inlinable
  public static func concat<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> { concat(sources, isPaced: false) }

  /// The same. If `isPaced`, a busy `concatMap` downstream delays the next stream, too.
  @inlinable
  package static func concat<S: Sequence & Sendable>(_ sources: S, isPaced: Bool) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable(push: { subscription, next in
      let iterator = Cell(sources.makeIterator())
      let loop = SubscriptionLoop(
        subscription, isPaced: isPaced,
        start: { scope in
          guard let source = iterator.value.next() else { return false }
          source.run(scope) { subscription.deliver($0, to: next) }
          return true
        }, ended: SubscriptionLoop.inSequence(subscription))
      loop.next()
    })
  }
}
