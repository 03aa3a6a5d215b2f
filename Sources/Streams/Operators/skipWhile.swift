extension ObservableType {
  /// Drops elements until one does not satisfy `predicate`, then emits that element and all later elements.
  ///
  ///     source:        -1--2--3--1-|
  ///     skipWhile(<2): ----2--3--1-|
  @inlinable
  public func skipWhile(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let skipping = Cell(true)
      source.run(subscription) {
        if skipping.value { skipping.value = try predicate($0) }
        if !skipping.value { try next($0) }
      }
    })
  }
}
