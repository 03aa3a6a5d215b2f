extension ObservableType {
  /// Continues with the stream that `handler` returns for the error.
  ///
  /// An error thrown by `handler` is forwarded. An error of the replacement is also forwarded, without another call of
  /// `handler` (contract, law 17).
  ///
  ///     source:     -a--#
  ///     catchError: -a---b-|    continues with -b-|
  @inlinable
  public func catchError(
    _ handler: @escaping @Sendable (any Error) throws -> Observable<Element>
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = CatchScope(subscription) { error in
        try handler(error).run(subscription, next)
      }
      source.run(scope) { subscription.deliver($0, to: next) }
    })
  }
}

extension Observable {
  /// Emits the first stream that does not fail.
  ///
  /// Each stream is subscribed when the previous stream has failed; the last error is forwarded.
  public static func catchError<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable(push: { subscription, next in
      let iterator = Cell(sources.makeIterator())
      let last = Cell<(any Error)?>(nil)
      let loop = SubscriptionLoop(
        subscription,
        start: { scope in
          guard let source = iterator.value.next() else {
            subscription.finish(last.value)
            return true
          }
          source.run(scope) { subscription.deliver($0, to: next) }
          return true
        },
        ended: { loop, error in
          guard let error else { return subscription.complete() }
          last.value = error
          loop.next()
        })
      loop.next()
    })
  }
}
