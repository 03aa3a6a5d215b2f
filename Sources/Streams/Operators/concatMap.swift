extension ObservableType {
  /// Subscribes the stream that `selector` makes of each element, one after the other, in order (law 14).
  ///
  ///     source:    -ab------|
  ///     concatMap: -a-ab-b--|    each becomes x-x|
  @inlinable
  public func concatMap<Source: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    flatMap(limit: 1, selector)
  }
}
