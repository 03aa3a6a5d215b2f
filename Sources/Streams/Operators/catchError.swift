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
