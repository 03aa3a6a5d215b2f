extension ObservableType {
  /// Subscribes again after an error when the stream returned by `notificationHandler` emits (contract, law 18).
  ///
  /// `notificationHandler` receives the stream of errors. When the stream that it returns completes or fails, the
  /// result does the same. Only its first element after each error triggers an attempt; elements emitted while the
  /// source is running are ignored.
  ///
  ///     source:    -a#
  ///     retryWhen: -a---a--|    after a pause of 2, once
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let errors = PublishSubject<any Error>()
      // Triggers and elements may arrive on different threads.
      let gate = Emitter(subscription, next)
      let hasFailed = Flag()
      let loop = SubscriptionLoop(
        subscription,
        start: { scope in
          source.run(scope) { gate.onNext($0) }
          return true
        },
        ended: { _, error in
          guard let error else { return gate.finish(nil) }
          hasFailed.raise()
          errors.onNext(error)
        })
      do {
        let triggers = try notificationHandler(errors.asObservable()).asObservable()
        let scope = HandlerScope(subscription, waits: false) { gate.finish($0) }
        triggers.run(scope) { _ in if hasFailed.lower() { loop.next() } }
      } catch {
        return subscription.fail(error)
      }
      loop.next()
    })
  }
}
