extension ObservableType {
  /// Leaves out elements that equal their predecessor.
  ///
  ///     source:               -a--a--b--a-|
  ///     distinctUntilChanged: -a-----b--a-|
  @inlinable
  public func distinctUntilChanged() -> Observable<Element> where Element: Equatable {
    distinctUntilChanged { $0 == $1 }
  }

  /// Leaves out elements whose key equals their predecessor's; what `keySelector` throws becomes the error (law 7).
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

  /// Leaves out elements that `comparer` finds equal to the last one emitted; what it throws is the error (law 7).
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
