extension Observable {
  /// Creates a stream that calls `subscribe` for each subscription, to produce its events.
  ///
  /// The observer may be called from any thread, concurrently and reentrantly; it serializes the events (contract, laws
  /// 1 to 3). The disposable that `subscribe` returns is disposed when the stream terminates or is disposed, or
  /// immediately if that happened while `subscribe` ran (contract, law 9).
  @inlinable
  public static func create(
    _ subscribe: @escaping @Sendable (AnyObserver<Element>) -> any Disposable
  ) -> Observable<Element> {
    Observable(push: { subscription, next in
      subscription.own(subscribe(AnyObserver(Emitter(subscription, next))))
    })
  }
}
