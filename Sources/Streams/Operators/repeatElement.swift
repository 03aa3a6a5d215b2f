extension Observable {
  /// Emits `element` repeatedly in a plain loop, until the subscription ends (contract, law 19).
  ///
  ///     repeatElement(a), take(4): (aaaa|)
  @inlinable
  public static func repeatElement(_ element: Element) -> Observable<Element> {
    .from(Swift.repeatElement(element, count: .max))
  }
}
