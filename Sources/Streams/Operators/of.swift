extension Observable {
  /// Emits `elements` in a plain loop on the subscribing thread, then completes (contract, law 23).
  ///
  ///     of(a, b, c): (abc|)
  @inlinable
  public static func of(_ elements: Element...) -> Observable<Element> { from(elements) }

  /// Emits `elements`, each in a separate item on `scheduler`, then completes (contract, law 23).
  public static func of(_ elements: Element..., scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    from(elements, scheduler: scheduler)
  }
}
