extension Observable {
  /// Completes at once.
  ///
  ///     empty: |
  public static func empty() -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.complete() })
  }
}
