extension Observable {
  /// Creates a stream that fails with `error` immediately.
  ///
  ///     error: #
  @inlinable
  public static func error(_ error: any Error) -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.fail(error) })
  }
}
