extension Observable {
  /// Fails at once with `error`.
  ///
  ///     error: #
  @inlinable
  public static func error(_ error: any Error) -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.fail(error) })
  }
}
