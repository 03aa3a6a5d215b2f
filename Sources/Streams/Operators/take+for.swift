extension ObservableType {
  /// Emits for `duration`, then completes and disposes the source.
  ///
  ///     source:      -a--b--c-|
  ///     take(for 6): -a--b-|
  @inlinable
  public func take(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    takeUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
