extension ObservableType {
  /// Emits the first `count` elements, then completes and disposes the source; if `count` is 0 or less, completes
  /// without subscribing.
  ///
  ///     source:  -a--b--c-|
  ///     take(2): -a--(b|)
  @inlinable
  public func take(_ count: Int) -> Observable<Element> {
    let source = asObservable()
    guard count > 0 else { return .empty() }
    return Observable(push: { subscription, next in
      let scope = Scope(subscription)
      let left = Cell(count)
      source.run(scope) {
        // Decrements the count before delivery, because the element may cause a reentrant call.
        left.value &-= 1
        let last = left.value == 0
        subscription.deliver($0, to: next)
        if last { subscription.complete() }
      }
    })
  }

  /// Emits elements for `duration`, then completes and disposes the source.
  ///
  ///     source:      -a--b--c-|
  ///     take(for 6): -a--b-|
  @inlinable
  public func take(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    takeUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
