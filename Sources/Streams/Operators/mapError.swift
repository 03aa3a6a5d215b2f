extension ObservableType {
  /// Replaces the error with the error that `transform` returns or throws.
  ///
  ///     source:   -a--#
  ///     mapError: -a--#    with another error
  @inlinable
  public func mapError(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = HandlerScope(subscription) { error in
        guard let error else { return subscription.complete() }
        do { subscription.fail(try transform(error)) } catch { subscription.fail(error) }
      }
      source.run(scope) { subscription.deliver($0, to: next) }
    })
  }
}
