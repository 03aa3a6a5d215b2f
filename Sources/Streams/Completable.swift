/// The result of a `Completable`.
public enum CompletableEvent: Sendable {
  /// The work completed.
  case completed
  /// The work failed with this error.
  case error(any Error)
}

/// A unit of work that completes or fails, and emits no elements.
public struct Completable: ObservableConvertibleType {
  /// The element type, which has no values: a completable emits no elements.
  public typealias Element = Never

  let observable: Observable<Never>

  /// Wraps a stream that emits no elements.
  init(trusted observable: Observable<Never>) { self.observable = observable }

  /// Returns this work as a stream that emits no elements.
  public func asObservable() -> Observable<Never> { observable }

  /// Creates work that calls `subscribe` for each subscription.
  ///
  /// The closure may report its result on any thread. The first result is used; later results are ignored.
  public static func create(
    subscribe: @escaping @Sendable (@escaping @Sendable (CompletableEvent) -> Void) -> any Disposable
  ) -> Completable {
    Completable(
      trusted: Observable(push: { subscription, _ in
        let disposable = subscribe { event in
          switch event {
          case .completed: subscription.complete()
          case .error(let error): subscription.fail(error)
          }
        }
        subscription.own(disposable)
      }))
  }

  /// Returns work that completes immediately.
  public static func empty() -> Completable { Completable(trusted: .empty()) }

  /// Returns work that fails with `error` immediately.
  public static func error(_ error: any Error) -> Completable { Completable(trusted: .error(error)) }

  /// Starts the work and calls the closure for its result, once, on the thread that reports the result.
  ///
  /// Without `onError`, an error goes to `Hooks.onUnhandledError` with the file and line of this call (contract, law
  /// 6).
  public func subscribe(
    onCompleted: (@Sendable () -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribe(onError: onError, onCompleted: onCompleted, onDisposed: onDisposed, file: file, line: line)
  }

  /// Starts the work and passes its result to `observer`, once, on the thread that reports the result.
  public func subscribe(
    _ observer: @escaping @Sendable (CompletableEvent) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onCompleted: { observer(.completed) }, onError: { observer(.error($0)) }, file: file, line: line)
  }
}
