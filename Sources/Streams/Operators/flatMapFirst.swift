extension ObservableType {
  /// Subscribes to the stream that `selector` returns for an element, and ignores elements that arrive while that
  /// stream is active (contract, law 14).
  ///
  ///     source:       -ab--c---|
  ///     flatMapFirst: -a-a-c-c-|    each becomes x-x|
  @inlinable
  public func flatMapFirst<Source: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    let source = asObservable()
    return Observable<Source.Element>(push: { subscription, next in
      let merge = MergeScope(subscription, next: next)
      source.run(merge) { element in
        if merge.isIdle { merge.add(try selector(element).asObservable()) }
      }
    })
  }
}
