extension ObservableType {
  /// Emits `element` if the source completes without an element.
  ///
  ///     source:           --|
  ///     ifEmpty(default): --(a|)
  @inlinable
  public func ifEmpty(default element: Element) -> Observable<Element> {
    ifEmpty(switchTo: .just(element))
  }

  /// Continues with `other` if the source completes without an element.
  ///
  ///     source:            --|
  ///     ifEmpty(switchTo): ---a-|    continues with -a-|
  @inlinable
  public func ifEmpty(switchTo other: Observable<Element>) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let isEmpty = Cell(true)
      let scope = HandlerScope(subscription) { error in
        if error == nil && isEmpty.value { other.run(subscription, next) } else { subscription.finish(error) }
      }
      source.run(scope) {
        isEmpty.value = false
        subscription.deliver($0, to: next)
      }
    })
  }
}
