extension ObservableType {
  /// Subscribes to the source after `dueTime`, on `scheduler`.
  ///
  ///     source:               a-b|
  ///     delaySubscription(2): --a-b|
  public func delaySubscription(_ dueTime: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      subscription.ownUntilRun { leave in
        scheduler.scheduleRelative(dueTime) {
          leave()
          source.run(subscription, next)
        }
      }
    })
  }
}
