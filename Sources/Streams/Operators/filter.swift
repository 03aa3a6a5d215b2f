extension ObservableType {
  /// Emits the elements that satisfy `predicate`; an error that it throws fails the stream (contract, law 7).
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
