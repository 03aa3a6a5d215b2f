extension ObservableType {
  /// Subscribes the source when `dueTime` has passed, on `scheduler`.
  ///
  ///     source:               a-b|
  ///     delaySubscription(2): --a-b|
  public func delaySubscription(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      subscription.own(scheduler.scheduleRelative(dueTime) { source.run(subscription, next) })
    })
  }
}
