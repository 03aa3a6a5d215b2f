extension ObservableType {
  /// Subscribes to the stream that `selector` returns for each element, one stream at a time, in order (contract, law
  /// 14).
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
