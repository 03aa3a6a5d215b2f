extension Observable {
  /// Creates a stream that completes immediately.
  ///
  ///     empty: |
  @inlinable
  public static func empty() -> Observable<Element> {
    Observable(push: { subscription, _ in subscription.complete() })
  }
}
