extension Completable {
  /// Goes on with `second` when this is done; an error ends all.
  public func andThen<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Second.Element> {
    let first = observable
    let second = second.asObservable()
    return Observable<Second.Element>(push: { subscription, next in
      let scope = HandlerScope(subscription) { error in
        if let error { return subscription.fail(error) }
        // So that work that goes on with itself needs no stack (law 27).
        subscription.tailCall { second.run(subscription, next) }
      }
      first.run(scope) { _ in }
    })
  }

  /// Goes on with `second` when this is done; an error ends all.
  public func andThen<Result>(_ second: Single<Result>) -> Single<Result> {
    Single(trusted: andThen(second.observable))
  }

  /// Goes on with `second` when this is done; an error ends all.
  public func andThen(_ second: Completable) -> Completable {
    Completable(trusted: andThen(second.observable))
  }
}
