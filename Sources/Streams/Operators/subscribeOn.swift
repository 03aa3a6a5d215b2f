extension ObservableType {
  /// Subscribes the source on `scheduler`; where its events arrive is the source's affair (see `observeOn`).
  @inlinable
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      subscription.own(scheduler.schedule { source.run(subscription, next) })
    })
  }
}
