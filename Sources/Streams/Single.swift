import Synchronization

/// The result of a `Single`.
public enum SingleEvent<Element: Sendable>: Sendable {
  /// The single succeeded with this element.
  case success(Element)
  /// The single failed with this error.
  case error(any Error)
  /// Unavailable: use `error(_:)` instead.
  @available(*, unavailable, renamed: "error(_:)")
  case failure(any Error)
}

/// A stream that emits exactly one element or fails, such as a network request (contract, law 29).
public struct Single<Element: Sendable>: ObservableConvertibleType {
  @usableFromInline let observable: Observable<Element>

  /// Wraps a stream that is known to emit one element and complete, or to fail.
  @inlinable
  package init(trusted observable: Observable<Element>) { self.observable = observable }

  /// Returns this single as a stream of one element.
  @inlinable
  public func asObservable() -> Observable<Element> { observable }

  /// Creates a single that calls `subscribe` for each subscription.
  ///
  /// The closure may report its result on any thread. The first result is used; later results are ignored (contract,
  /// law 29).
  @inlinable
  public static func create(
    subscribe: @escaping @Sendable (@escaping @Sendable (SingleEvent<Element>) -> Void) -> any Disposable
  ) -> Single<Element> {
    Single(
      trusted: Observable(push: { subscription, next in
        let result = OneResult(subscription, next)
        subscription.own(subscribe { result.take($0) })
      }))
  }

  /// Returns a single that succeeds with `element` immediately.
  @inlinable
  public static func just(_ element: Element) -> Single<Element> { Single(trusted: .just(element)) }

  /// Returns a single that fails with `error` immediately.
  @inlinable
  public static func error(_ error: any Error) -> Single<Element> { Single(trusted: .error(error)) }

  /// Returns a single that never produces a result.
  @inlinable
  public static func never() -> Single<Element> { Single(trusted: .never()) }

  /// Returns a single that calls `factory` for each subscription; an error thrown by `factory` fails it (contract, law
  /// 7).
  @inlinable
  public static func deferred(_ factory: @escaping @Sendable () throws -> Single<Element>) -> Single<Element> {
    Single(trusted: .deferred { try factory().observable })
  }

  /// Creates a resource for each subscription, runs the single that uses it, and disposes the resource after the result
  /// or the disposal.
  ///
  /// An error thrown by either factory fails the single (contract, law 7).
  @inlinable
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    singleFactory: @escaping @Sendable (Resource) throws -> Single<Element>
  ) -> Single<Element> {
    Single(trusted: .using(resourceFactory) { try singleFactory($0).observable })
  }

  /// Starts the work and calls the closure for its result, once, on the thread that delivers the result.
  ///
  /// Without `onError`, an error goes to `Hooks.onUnhandledError` with the file and line of this call (contract, law
  /// 6). `onDisposed` is called once, after the result or the disposal.
  @inlinable
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribe(onNext: onSuccess, onError: onError, onDisposed: onDisposed, file: file, line: line)
  }

  /// Starts the work and passes its result to `observer`, once, on the thread that delivers the result.
  @inlinable
  public func subscribe(
    _ observer: @escaping @Sendable (SingleEvent<Element>) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onSuccess: { observer(.success($0)) }, onError: { observer(.error($0)) }, file: file, line: line)
  }
}

/// The observer behind `Single.create`: it forwards the first result and ignores later ones.
@usableFromInline
final class OneResult<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let next: Observable<Element>.Next
  // Set by the first result.
  @usableFromInline let won = Atomic<Bool>(false)

  @inlinable
  init(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.subscription = subscription
    self.next = next
  }

  @inlinable
  func take(_ event: SingleEvent<Element>) {
    guard !won.exchange(true, ordering: .acquiringAndReleasing) else { return }
    switch event {
    case .success(let element):
      subscription.deliverIfActive(element, to: next)
      subscription.complete()
    case .error(let error):
      subscription.fail(error)
    }
  }
}
