extension Observable {
  /// Emits `element` and completes.
  ///
  ///     just(a): (a|)
  @inlinable
  public static func just(_ element: Element) -> Observable<Element> {
    Observable(source: .scalar(element))
  }

  /// Emits `element` and completes, in an item that it schedules on `scheduler`.
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    Observable.just(element).subscribeOn(scheduler)
  }
}
