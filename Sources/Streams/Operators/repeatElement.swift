extension Observable {
  /// Emits `element` again and again in a plain loop, until something downstream ends it (law 19).
  ///
  ///     repeatElement(a), take(4): (aaaa|)
  @inlinable
  public static func repeatElement(_ element: Element) -> Observable<Element> {
    .from(Swift.repeatElement(element, count: .max))
  }

  /// Emits `element` again and again, once for each item that it schedules on `scheduler`.
  public static func repeatElement(_ element: Element, scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    .from(Swift.repeatElement(element, count: .max), scheduler: scheduler)
  }
}
