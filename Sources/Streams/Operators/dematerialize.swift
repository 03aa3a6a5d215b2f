extension ObservableType {
  /// Converts elements that are events into those events: the inverse of `materialize`.
  @inlinable
  public func dematerialize<Result: Sendable>() -> Observable<Result> where Element == Event<Result> {
    let source = asObservable()
    return Observable<Result>(push: { subscription, next in
      let scope = Scope(subscription)
      source.run(scope) { event in
        switch event {
        case .next(let element): subscription.deliver(element, to: next)
        case .error(let error): subscription.fail(error)
        case .completed: subscription.complete()
        }
      }
    })
  }
}
