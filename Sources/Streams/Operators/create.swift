extension Observable {
  /// A stream whose events come from `subscribe`, which runs at each subscription.
  ///
  /// The observer may be used from any thread, from several at once, and re-entrantly: events are serialised (laws 1
  /// to 3). What `subscribe` returns is disposed when the stream ends or is given up; when that has already happened
  /// while `subscribe` ran, at once (law 9).
  @inlinable
  public static func create(
    _ subscribe: @escaping @Sendable (AnyObserver<Element>) -> any Disposable
  ) -> Observable<Element> {
    Observable(push: { subscription, next in
      subscription.own(subscribe(AnyObserver(Emitter(subscription, next))))
    })
  }
}
