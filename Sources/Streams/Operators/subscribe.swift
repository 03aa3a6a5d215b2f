extension ObservableType {
  /// Subscribes to the stream and calls the closures for its events.
  ///
  /// The closures run one at a time, on the thread on which the stream emits; use `observeOn` to choose another thread.
  /// Without `onError`, an error goes to `Hooks.onUnhandledError` with the file and line of this call (contract, law
  /// 6).
  ///
  /// - Parameters:
  ///   - onNext: A closure that receives each element.
  ///   - onError: A closure that receives the error if the stream fails.
  ///   - onCompleted: A closure that is called if the stream completes.
  ///   - onDisposed: A closure that is called once, after the terminal event or the disposal (contract, law 5).
  ///   - file: The file to report with an unhandled error.
  ///   - line: The line to report with an unhandled error.
  /// - Returns: The subscription. Call `dispose()` to stop, or add it to a bag with `disposed(by:)`.
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

  /// Subscribes to the stream and passes every event to `on`, on the thread on which the stream emits.
  @inlinable
  public func subscribe(
    _ on: @escaping @Sendable (Event<Element>) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(
      onNext: { on(.next($0)) }, onError: { on(.error($0)) }, onCompleted: { on(.completed) }, file: file, line: line)
  }

  /// Subscribes to the stream and passes every event to `observer`, on the thread on which the stream emits.
  @inlinable
  public func subscribe(
    _ observer: some ObserverType<Element>, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(
      onNext: { observer.onNext($0) }, onError: { observer.onError($0) }, onCompleted: { observer.onCompleted() },
      file: file, line: line)
  }

  /// Subscribes to the stream and passes its events to closures together with `object`, which is held weakly.
  ///
  /// When `object` has been deallocated, events are dropped. Without `onError`, an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
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

/// The subscription at the end of every chain, which calls the user's closures.
@usableFromInline
final class FinalSubscription: Subscription, @unchecked Sendable {
  private struct Handlers {
    let onError: (@Sendable (any Error) -> Void)?
    let onCompleted: (@Sendable () -> Void)?
    let onDisposed: (@Sendable () -> Void)?
  }

  // Safe: written by `init`, then only by the thread that ends the subscription.
  // Row single of Benchmarks/Guard.
  @exclusivity(unchecked) private var handlers: Handlers?
  private let file: StaticString
  private let line: UInt

  @usableFromInline
  init(
    onError: (@Sendable (any Error) -> Void)?, onCompleted: (@Sendable () -> Void)?,
    onDisposed: (@Sendable () -> Void)?, file: StaticString, line: UInt
  ) {
    if onError != nil || onCompleted != nil || onDisposed != nil {
      handlers = Handlers(onError: onError, onCompleted: onCompleted, onDisposed: onDisposed)
    }
    self.file = file
    self.line = line
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard let error else {
      handlers?.onCompleted?()
      return
    }
    if let onError = handlers?.onError { onError(error) } else { Hooks.onUnhandledError(error, file, line) }
  }

  @usableFromInline
  override func released() {
    if let handlers = handlers.take() { handlers.onDisposed?() }
  }
}
