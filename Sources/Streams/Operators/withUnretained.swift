extension ObservableType {
  /// Emits each element with `object`, which is not kept alive; completes when that is gone.
  public func withUnretained<Object: AnyObject & Sendable>(_ object: Object) -> Observable<(Object, Element)> {
    withUnretained(object) { ($0, $1) }
  }

  /// Emits what `resultSelector` makes of `object` and each element; `object` is not kept alive, and the stream completes
  /// when it is gone.
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
