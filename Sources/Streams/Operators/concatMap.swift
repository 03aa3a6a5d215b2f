extension ObservableType {
  /// Subscribes the stream that `selector` makes of each element, one after the other, in order (law 14).
  ///
  ///                       -a-b-----|
  ///     concatMap(x1-x2|) -a1-a2-b1-b2|
  @inlinable
  public func concatMap<Source: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    flatMap(limit: 1, selector)
  }
}
