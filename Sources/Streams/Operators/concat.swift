extension ObservableType {
  /// Emits this stream, then `second`, which is subscribed when this one has completed.
  ///
  ///     first:  -a--b-|
  ///     second: -c-|
  ///     concat: -a--b--c-|
  @inlinable
  public func concat<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Element>
  where Second.Element == Element {
    .concat([asObservable(), second.asObservable()])
  }
}

extension ObservableType where Element: ObservableConvertibleType {
  /// Emits the inner streams one after the other, in order, each subscribed when the one before has completed (law 14);
  /// the first error ends the whole.
  @inlinable
  public func concat() -> Observable<Element.Element> { merge(maxConcurrent: 1) }
}

extension Observable {
  /// Emits the streams one after the other, each subscribed when the one before has completed; an error ends all.
  @inlinable
  public static func concat(_ sources: Observable<Element>...) -> Observable<Element> { concat(sources) }

  /// Emits the streams one after the other, each subscribed when the one before has completed; an error ends all.
  ///
  /// The sequence may be lazy and without end: the next stream is asked for when it is needed.
  @inlinable
  public static func concat<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable(push: { subscription, next in
      let iterator = Cell(sources.makeIterator())
      let loop = SubscriptionLoop(
        subscription,
        start: { scope in
          guard let source = iterator.value.next() else { return false }
          source.run(scope) { subscription.deliver($0, to: next) }
          return true
        }, ended: SubscriptionLoop.inSequence(subscription))
      loop.next()
    })
  }
}
