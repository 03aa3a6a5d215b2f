extension Completable {
  /// Continues with `second` after this work has completed; an error ends the sequence.
  public func andThen<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Second.Element> {
    let first = observable
    let second = second.asObservable()
    return Observable<Second.Element>(push: { subscription, next in
      let scope = HandlerScope(subscription) { error in
        if let error { return subscription.fail(error) }
        // A tail call, so that recursive work does not grow the stack (contract, law 27).
        subscription.tailCall { second.run(subscription, next) }
      }
      first.run(scope) { _ in }
    })
  }

  /// Continues with `second` after this work has completed; an error ends the sequence.
  public func andThen<Result>(_ second: Single<Result>) -> Single<Result> {
    Single(trusted: andThen(second.observable))
  }

  /// Continues with `second` after this work has completed; an error ends the sequence.
  public func andThen(_ second: Completable) -> Completable {
    Completable(trusted: andThen(second.observable))
  }
}
