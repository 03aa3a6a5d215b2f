extension ObservableType {
  /// Emits each element together with the previous element; emits nothing for the first element.
  ///
  ///     source:   -a--b--c-|
  ///     pairwise: ----A--B-|    A = (a, b), B = (b, c)
  @inlinable
  public func pairwise() -> Observable<(Element, Element)> {
    let source = asObservable()
    return Observable<(Element, Element)>(push: { subscription, next in
      let last = Cell<Element?>(nil)
      source.run(subscription) {
        let previous = last.value
        last.value = $0
        if let previous { try next((previous, $0)) }
      }
    })
  }
}
