extension ObservableType {
  /// Emits the only element; fails with `StreamError.noElements` or `.moreThanOneElement` if the count is not exactly
  /// one (contract, law 29).
  public func single() -> Observable<Element> { asSingle().asObservable() }

  /// Emits the only element that satisfies `predicate`; fails in the same cases as `single()`.
  public func single(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    filter(predicate).single()
  }
}
