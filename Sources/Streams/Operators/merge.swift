extension ObservableType where Element: ObservableConvertibleType {
  /// Emits the elements of all inner streams in order of arrival; the first error fails the result (contract, law 13).
  @inlinable
  public func merge() -> Observable<Element.Element> { flatMap { $0 } }

  /// Emits the elements of the inner streams, subscribing to at most `maxConcurrent` of them at a time; the others wait
  /// in order.
  ///
  /// `concat` is the same as `maxConcurrent: 1` (contract, law 14). Values below 1 are treated as 1.
  @inlinable
  public func merge(maxConcurrent: Int) -> Observable<Element.Element> {
    flatMap(limit: Swift.max(1, maxConcurrent)) { $0 }
  }
}

extension Observable {
  /// Emits the elements of all streams in order of arrival; the first error fails the result (contract, law 13).
  ///
  ///     first:  -a---c-|
  ///     second: --b---|
  ///     merge:  -ab--c-|
  @inlinable
  public static func merge(_ sources: Observable<Element>...) -> Observable<Element> { merge(sources) }

  /// Emits the elements of all streams in order of arrival; the first error fails the result (contract, law 13).
  @inlinable
  public static func merge<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable<Observable<Element>>.from(sources).merge()
  }
}
