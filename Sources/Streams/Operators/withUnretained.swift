extension ObservableType {
  /// Emits each element together with `object`, which is held weakly; completes when `object` has been deallocated.
  public func withUnretained<Object: AnyObject & Sendable>(_ object: Object) -> Observable<(Object, Element)> {
    withUnretained(object) { ($0, $1) }
  }

  /// Emits `object` and each element, combined by `resultSelector`.
  ///
  /// `object` is held weakly; the stream completes when it has been deallocated.
  public func withUnretained<Object: AnyObject & Sendable, Result: Sendable>(
    _ object: Object, resultSelector: @escaping @Sendable (Object, Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result>(push: { [weak object] subscription, next in
      let scope = Scope(subscription)
      source.run(scope) { [weak object] element in
        guard let object else { return subscription.complete() }
        do { try next(resultSelector(object, element)) } catch { subscription.fail(error) }
      }
    })
  }
}
