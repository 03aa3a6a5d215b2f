extension Observable {
  /// Completes at once.
  ///
  ///     empty: |
  @inlinable
  public static func empty() -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.complete() })
  }
}
