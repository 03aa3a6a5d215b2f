extension ObservableType {
  /// Subscribes to the stream that `selector` returns for each element, and emits the elements of all these streams in
  /// order of arrival.
  ///
  /// If `selector` returns streams that apply `flatMap` recursively, each level uses at least one stack frame
  /// (contract, law 27). Write long recursions, such as the pages of a list, as a loop with `concat`.
  ///
  /// The first error of the source, an inner stream or `selector` fails the result and disposes all inner streams. The
  /// result completes when the source and all inner streams have completed (contract, law 13).
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
      let merge = MergeScope(subscription, limit: limit, next: next)
      source.run(merge) { merge.add(try selector($0).asObservable()) }
    })
  }
}
