extension ObservableType {
  /// Starts the stream and handles its events.
  ///
  /// The handlers run one at a time, on whatever thread the stream emits; use `observeOn` to choose. An error without
  /// `onError` goes to `Hooks.onUnhandledError` with the place of this call (law 6).
  ///
  /// - Parameters:
  ///   - onNext: gets each element.
  ///   - onError: gets the error that ended the stream.
  ///   - onCompleted: is called when the stream ended well.
  ///   - onDisposed: is called once, after the end or the disposal (law 5).
  ///   - file: the place to name for an error nobody handles.
  ///   - line: the place to name for an error nobody handles.
  /// - Returns: the subscription; `dispose()` it to stop, or hand it to a bag with `disposed(by:)`.
  @inlinable
  public func subscribe(
    onNext: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onCompleted: (@Sendable () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    let subscription = FinalSubscription(
      onError: onError, onCompleted: onCompleted, onDisposed: onDisposed, file: file, line: line)
    if let onNext {
      asObservable().run(subscription) { if !subscription.isStopped { onNext($0) } }
    } else {
      asObservable().run(subscription) { _ in }
    }
    return subscription
  }

  /// Starts the stream and hands every event to `on`, on whatever thread the stream emits.
  @inlinable
  public func subscribe(
    _ on: @escaping @Sendable (Event<Element>) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(
      onNext: { on(.next($0)) }, onError: { on(.error($0)) }, onCompleted: { on(.completed) }, file: file, line: line)
  }

  /// Starts the stream and hands every event to `observer`, on whatever thread the stream emits.
  @inlinable
  public func subscribe(
    _ observer: some ObserverType<Element>, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(
      onNext: { observer.onNext($0) }, onError: { observer.onError($0) }, onCompleted: { observer.onCompleted() },
      file: file, line: line)
  }

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

/// The end of every chain: the user's handlers.
@usableFromInline
final class FinalSubscription: Subscription, @unchecked Sendable {
  // Safe: written by init, then only by the one thread that ended the subscription.
  private var onError: (@Sendable (any Error) -> Void)?
  private var onCompleted: (@Sendable () -> Void)?
  private var onDisposed: (@Sendable () -> Void)?
  private let file: StaticString
  private let line: UInt

  @usableFromInline
  init(
    onError: (@Sendable (any Error) -> Void)?, onCompleted: (@Sendable () -> Void)?,
    onDisposed: (@Sendable () -> Void)?, file: StaticString, line: UInt
  ) {
    self.onError = onError
    self.onCompleted = onCompleted
    self.onDisposed = onDisposed
    self.file = file
    self.line = line
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard let error else {
      onCompleted?()
      return
    }
    if let onError { onError(error) } else { Hooks.onUnhandledError(error, file, line) }
  }

  @usableFromInline
  override func released() {
    let disposed = onDisposed
    onError = nil
    onCompleted = nil
    onDisposed = nil
    disposed?()
  }
}
