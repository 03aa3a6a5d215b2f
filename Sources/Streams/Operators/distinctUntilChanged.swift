extension ObservableType {
  /// Drops elements that are equal to the previous element.
  ///
  ///     source:               -a--a--b--a-|
  ///     distinctUntilChanged: -a-----b--a-|
  @inlinable
  public func distinctUntilChanged() -> Observable<Element> where Element: Equatable {
    distinctUntilChanged { $0 == $1 }
  }

  /// Drops elements whose key equals the previous element's key; an error thrown by `keySelector` fails the stream
  /// (contract, law 7).
  @inlinable
  public func distinctUntilChanged<Key: Equatable & Sendable>(
    _ keySelector: @escaping @Sendable (Element) throws -> Key
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let last = Cell<Key?>(nil)
      source.run(subscription) {
        let key = try keySelector($0)
        if let previous = last.value, previous == key { return }
        last.value = key
        try next($0)
      }
    })
  }

  /// Drops elements that `comparer` considers equal to the last emitted element; an error that it throws fails the
  /// stream (contract, law 7).
  @inlinable
  public func distinctUntilChanged(
    _ comparer: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let last = Cell<Element?>(nil)
      source.run(subscription) {
        if let previous = last.value, try comparer(previous, $0) { return }
        last.value = $0
        try next($0)
      }
    })
  }
}
