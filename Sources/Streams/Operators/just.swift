extension Observable {
  /// Emits `element` and completes.
  ///
  ///     just(a)    (a|)
  @inlinable
  public static func just(_ element: Element) -> Observable<Element> {
    Observable(source: .scalar(element))
  }
}
