extension ObservableType {
  /// The only element as a stream: fails with `StreamError.noElements` or `.moreThanOneElement` when there is not exactly
  /// one (law 29).
  public func single() -> Observable<Element> { asSingle().asObservable() }

  /// The only element that `predicate` accepts; fails as `single()` does.
  public func single(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    filter(predicate).single()
  }
}
