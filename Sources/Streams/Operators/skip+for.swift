extension ObservableType {
  /// Leaves out what comes within `duration` of the subscription.
  ///
  ///     source:      -a--b--c-|
  ///     skip(for 5): -------c-|
  @inlinable
  public func skip(for duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    skipUntil(Observable<Int>.timer(duration, scheduler: scheduler))
  }
}
