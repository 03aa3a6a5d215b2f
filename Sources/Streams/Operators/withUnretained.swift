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

extension ObservableType {
  /// Starts the stream and handles its events with `object`, which is not kept alive: when it is gone, events are
  /// dropped. An error without `onError` goes to `Hooks.onUnhandledError` (law 6).
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onNext: (@Sendable (Object, Element) -> Void)? = nil,
    onError: (@Sendable (Object, any Error) -> Void)? = nil, onCompleted: (@Sendable (Object) -> Void)? = nil,
    onDisposed: (@Sendable (Object) -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    let handleError: (@Sendable (any Error) -> Void)?
    if let onError {
      handleError = { [weak object] error in if let object { onError(object, error) } }
    } else {
      handleError = nil
    }
    return subscribe(
      onNext: { [weak object] element in if let object { onNext?(object, element) } }, onError: handleError,
      onCompleted: { [weak object] in if let object { onCompleted?(object) } },
      onDisposed: { [weak object] in if let object { onDisposed?(object) } }, file: file, line: line)
  }
}
