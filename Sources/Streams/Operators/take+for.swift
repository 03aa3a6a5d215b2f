extension ObservableType {
  /// Emits for `duration`, then completes and disposes the source.
  ///
  ///                  -a--b--c-|
  ///     take(for: 5) -a--b-|
  @inlinable
  public func take(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    takeUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
