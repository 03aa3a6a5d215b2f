extension ObservableType {
  /// Emits each element with its index, counted from 0.
  ///
  ///     source:     -a--b-|
  ///     enumerated: -A--B-|    A = (0, a), B = (1, b)
  @inlinable
  public func enumerated() -> Observable<(index: Int, element: Element)> {
    let source = asObservable()
    return Observable<(index: Int, element: Element)>(push: { subscription, next in
      let count = Cell(0)
      source.run(subscription) {
        let index = count.value
        count.value += 1
        try next((index: index, element: $0))
      }
    })
  }
}
