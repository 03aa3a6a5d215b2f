extension Observable {
  /// Emits `elements` in a plain loop on the subscribing thread, then completes (contract, law 23).
  ///
  ///     of(a, b, c): (abc|)
  @inlinable
  public static func of(_ elements: Element...) -> Observable<Element> { from(elements) }
}
