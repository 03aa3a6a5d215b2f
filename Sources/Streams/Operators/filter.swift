extension ObservableType {
  /// Emits the elements for which `predicate` is true; what it throws becomes the stream's error (law 7).
  ///
  ///     source:       -1--2--3--4-|
  ///     filter(even): ----2-----4-|
  @inlinable
  public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      source.run(subscription) { if try predicate($0) { try next($0) } }
    })
  }
}
