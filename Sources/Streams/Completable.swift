/// The one result of a `Completable`.
public enum CompletableEvent: Sendable {
  /// The work is done.
  case completed
  /// The failure.
  case error(any Error)
}

/// Work that ends well or with an error, and has no element.
public struct Completable: ObservableConvertibleType {
  /// No element is ever emitted.
  public typealias Element = Never

  let observable: Observable<Never>

  /// Wraps a stream without elements.
  init(trusted observable: Observable<Never>) { self.observable = observable }

  /// The same as a stream without elements.
  public func asObservable() -> Observable<Never> { observable }

  /// Work whose end comes from `subscribe`, which runs at each subscription.
  ///
  /// The observer may be called from any thread; the first result wins, the rest is ignored.
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

  /// Is done at once.
  public static func empty() -> Completable { Completable(trusted: .empty()) }

  /// Fails with `error` at once.
  public static func error(_ error: any Error) -> Completable { Completable(trusted: .error(error)) }

  /// Starts the work and handles its end, once, on whatever thread it comes.
  ///
  /// An error without `onError` goes to `Hooks.onUnhandledError` with the place of this call (law 6).
  public func subscribe(
    onCompleted: (@Sendable () -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribe(onError: onError, onCompleted: onCompleted, onDisposed: onDisposed, file: file, line: line)
  }

  /// Starts the work and passes its end to `observer`, once, on whatever thread it comes.
  public func subscribe(
    _ observer: @escaping @Sendable (CompletableEvent) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onCompleted: { observer(.completed) }, onError: { observer(.error($0)) }, file: file, line: line)
  }
}
