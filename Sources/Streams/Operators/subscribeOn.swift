extension ObservableType {
  /// Subscribes to the source on `scheduler`; to choose where events are delivered, use `observeOn`.
  ///
  /// Disposal runs on the disposing thread. In RxSwift, it runs on `scheduler`.
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      subscription.ownUntilRun { leave in
        scheduler.schedule {
          leave()
          source.run(subscription, next)
        }
      }
    })
  }
}
