extension ObservableType {
  /// Emits the last `count` elements on completion.
  ///
  ///     source:      -a--b--c-|
  ///     takeLast(2): ---------(bc|)
  @inlinable
  public func takeLast(_ count: Int) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let kept = Cell(Queue<Element>())
      let scope = LastScope(subscription) {
        while let element = kept.value.popFirst(), !subscription.isStopped { try next(element) }
      }
      source.run(scope) {
        guard count > 0 else { return }
        if kept.value.count == count { _ = kept.value.popFirst() }
        kept.value.append($0)
      }
    })
  }
}
