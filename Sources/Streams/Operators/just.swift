extension Observable {
  /// Creates a stream that emits `element` and completes.
  ///
  ///     just(a): (a|)
  @inlinable
  public static func just(_ element: Element) -> Observable<Element> {
    Observable(scalar: element)
  }

  /// Creates a stream that emits `element` and completes, on `scheduler`.
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    Observable.just(element).subscribeOn(scheduler)
  }
}
