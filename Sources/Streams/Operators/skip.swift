extension ObservableType {
  /// Drops the first `count` elements.
  ///
  ///     source:  -a--b--c-|
  ///     skip(2): -------c-|
  @inlinable
  public func skip(_ count: Int) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let left = Cell(count)
      source.run(subscription) {
        if left.value > 0 { left.value -= 1 } else { try next($0) }
      }
    })
  }

  /// Drops elements that arrive within `duration` of the subscription.
  ///
  ///     source:      -a--b--c-|
  ///     skip(for 5): -------c-|
  @inlinable
  public func skip(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    skipUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
