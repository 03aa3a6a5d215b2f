extension ObservableType {
  /// Subscribes again after each error, without end; a `take` below stops it (law 19).
  ///
  ///     source: -a-#
  ///     retry:  -a--a--a--a-
  @inlinable
  public func retry() -> Observable<Element> { retry(.max) }

  /// Subscribes again after an error until there have been `maxAttemptCount` attempts in all; then the last error is
  /// forwarded (law 18, RxSwift's count). With 0 or less nothing is attempted and the stream completes.
  ///
  ///     source:   -a-#
  ///     retry(2): -a--a-#
  @inlinable
  public func retry(_ maxAttemptCount: Int) -> Observable<Element> {
    let source = asObservable()
    guard maxAttemptCount > 0 else { return .empty() }
    return Observable(push: { subscription, next in
      let left = Cell(maxAttemptCount)
      let loop = SubscriptionLoop(
        subscription,
        start: { scope in
          left.value -= 1
          source.run(scope) { subscription.deliver($0, to: next) }
          return true
        },
        ended: { loop, error in
          if error == nil || left.value == 0 { subscription.finish(error) } else { loop.next() }
        })
      loop.next()
    })
  }

  /// Subscribes again after errors as `policy` says, waiting between the attempts; the last error is forwarded (law 18).
  public func retry(_ policy: RetryPolicy) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let made = Cell(0)
      let pause = SerialDisposable()
      subscription.own(pause)
      let loop = SubscriptionLoop(
        subscription,
        start: { scope in
          made.value += 1
          source.run(scope) { subscription.deliver($0, to: next) }
          return true
        },
        ended: { loop, error in
          guard let error, let delay = policy.delay(after: error, attempt: made.value) else {
            return subscription.finish(error)
          }
          pause.arm { policy.scheduler.scheduleRelative(delay) { loop.next() } }
        })
      loop.next()
    })
  }
}
