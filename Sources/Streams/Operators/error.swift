extension Observable {
  /// Fails at once with `error`.
  ///
  ///     error: #
  public static func error(_ error: any Error) -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.fail(error) })
  }
}
