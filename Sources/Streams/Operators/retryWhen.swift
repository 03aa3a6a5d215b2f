extension ObservableType {
  /// Subscribes again when, after an error, the stream that `notificationHandler` makes of the errors emits; its error or
  /// completion ends the stream (law 18).
  ///
  /// What that stream emits while the source runs is ignored: only the first element after each error counts.
  ///
  ///     source:    -a#
  ///     retryWhen: -a---a--|    after a pause of 2, once
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let errors = PublishSubject<any Error>()
      // The triggers may come from another thread than the elements.
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
