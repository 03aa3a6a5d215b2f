extension ObservableType {
  /// Emits all elements as one array, on completion.
  ///
  ///     source:  -1--2--3-|
  ///     toArray: ---------(A|)    A = [1, 2, 3]
  @inlinable
  public func toArray() -> Single<[Element]> {
    let source = asObservable()
    return Single(
      trusted: Observable<[Element]>(push: { subscription, next in
        let elements = Cell<[Element]>([])
        let scope = LastScope(subscription) { try next(elements.value) }
        source.run(scope) { elements.value.append($0) }
      }))
  }
}
