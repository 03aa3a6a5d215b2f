extension ObservableType {
  /// Emits the first `count` elements, then completes and disposes the source; with 0 or less it does not subscribe.
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
        // Counted down first: what the element sets off may come back here.
        left.value &-= 1
        let last = left.value == 0
        subscription.deliver($0, to: next)
        if last { subscription.complete() }
      }
    })
  }

  /// Emits for `duration`, then completes and disposes the source.
  ///
  ///     source:      -a--b--c-|
  ///     take(for 6): -a--b-|
  @inlinable
  public func take(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    takeUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
