extension Observable {
  /// Creates a stream that emits `element` and completes.
  ///
  ///     just(a): (a|)
  @inlinable
  public static func just(_ element: Element) -> Observable<Element> {
    Observable(scalar: element)
  }
}
