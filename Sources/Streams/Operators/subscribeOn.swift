extension ObservableType {
  /// Subscribes the source on `scheduler`; where its events arrive is the source's affair (see `observeOn`).
  ///
  /// Disposal runs on the thread that disposes, not on `scheduler` (RxSwift disposes there).
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
