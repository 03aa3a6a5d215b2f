extension ObservableType {
  /// Subscribes again after each error, without a limit; a `take` downstream stops it (contract, law 19).
  ///
  ///     source: -a-#
  ///     retry:  -a--a--a--a-
  @inlinable
  public func retry() -> Observable<Element> { retry(.max) }

  /// Subscribes again after an error, up to `maxAttemptCount` attempts in total; then the last error is forwarded
  /// (contract, law 18).
  ///
  /// As in RxSwift, the first attempt is included in the number. If `maxAttemptCount` is 0 or less, the stream
  /// completes without subscribing.
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

  /// Subscribes again after errors, as `policy` specifies, with delays between attempts; the last error is forwarded
  /// (contract, law 18).
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
          pause.arm { policy.timer.scheduleRelative(delay) { loop.next() } }
        })
      loop.next()
    })
  }
}
