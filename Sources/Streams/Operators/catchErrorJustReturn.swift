extension ObservableType {
  /// Emits `element` instead of an error, and then completes.
  ///
  ///     source:                  -a--#
  ///     catchErrorJustReturn(x): -a--(x|)
  @inlinable
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = HandlerScope(subscription) { error in
        if error != nil, !subscription.isStopped { subscription.deliver(element, to: next) }
        subscription.complete()
      }
      source.run(scope) { subscription.deliver($0, to: next) }
    })
  }
}
