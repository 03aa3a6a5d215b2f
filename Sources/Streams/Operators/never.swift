extension Observable {
  /// Emits nothing and never ends.
  ///
  ///     never: -
  @inlinable
  public static func never() -> Observable<Element> {
    Observable(push: { _, _ in })
  }
}
