extension ObservableType {
  /// Subscribes the stream that `selector` makes of each element, and emits what all of them emit, as it comes.
  ///
  /// A `selector` that makes streams with a `flatMap` of their own nests one stack frame or more a level (law 27): write long
  /// recursions, such as pages of a list, as a loop with `concat`.
  ///
  /// The first error, of the source, an inner or `selector`, ends the whole and disposes every other inner; completion
  /// needs the source and every inner (law 13).
  ///
  ///     source:  -a--b----|
  ///     flatMap: -a-ab-b--|    each becomes x-x|
  @inlinable
  public func flatMap<Source: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    flatMap(limit: .max, selector)
  }

  @inlinable
  func flatMap<Source: ObservableConvertibleType>(
    limit: Int, _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    let source = asObservable()
    return Observable<Source.Element>(push: { subscription, next in
      let merge = Merge(subscription, limit: limit, next: next)
      source.run(merge) { merge.add(try selector($0).asObservable()) }
    })
  }
}
