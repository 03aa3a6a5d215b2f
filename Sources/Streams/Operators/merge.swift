extension ObservableType where Element: ObservableConvertibleType {
  /// Emits what all the inner streams emit, as it comes; the first error ends the whole (law 13).
  @inlinable
  public func merge() -> Observable<Element.Element> { flatMap { $0 } }

  /// Emits what the inner streams emit, at most `maxConcurrent` of them subscribed at a time, the others waiting in
  /// order; `concat` is `maxConcurrent: 1` (law 14). Less than 1 counts as 1.
  @inlinable
  public func merge(maxConcurrent: Int) -> Observable<Element.Element> {
    flatMap(limit: Swift.max(1, maxConcurrent)) { $0 }
  }
}

extension Observable {
  /// Emits what all the streams emit, as it comes; the first error ends the whole (law 13).
  ///
  ///     first:  -a---c-|
  ///     second: --b---|
  ///     merge:  -ab--c-|
  @inlinable
  public static func merge(_ sources: Observable<Element>...) -> Observable<Element> { merge(sources) }

  /// Emits what all the streams emit, as it comes; the first error ends the whole (law 13).
  @inlinable
  public static func merge<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable<Observable<Element>>.from(sources).merge()
  }
}
