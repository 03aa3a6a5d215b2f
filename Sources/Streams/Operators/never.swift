extension Observable {
  /// Creates a stream that never emits and never terminates.
  ///
  ///     never: -
  @inlinable
  public static func never() -> Observable<Element> {
    Observable(push: { _, _ in })
  }
}
