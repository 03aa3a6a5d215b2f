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
      let latest = Latest<Second.Element>()
      let pairs = Emitter<(Element, Second.Element)>(subscription) { try next(resultSelector($0.0, $0.1)) }
      let otherScope = HandlerScope(subscription, waits: false) { if let error = $0 { pairs.finish(error) } }
      other.run(otherScope) { element in latest.element.release { exchange(&$0, with: element) } }
      let sourceScope = HandlerScope(subscription) { pairs.finish($0) }
      source.run(sourceScope) { element in
        if let second = latest.element.withLock({ $0 }) { pairs.onNext((element, second)) }
      }
    })
  }

  /// Emits the latest element of `second` for each element of this stream; drops elements before `second` has emitted.
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Second.Element> {
    withLatestFrom(second) { $1 }
  }
}

@usableFromInline
final class Latest<Element: Sendable>: Sendable {
  // Guards the element. Not in the drain: while the observer is busy, elements replace one another instead of waiting.
  @usableFromInline let element = Locked<Element?>(nil)

  @inlinable init() {}
}
