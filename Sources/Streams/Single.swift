import Synchronization

/// The one result of a `Single`.
public enum SingleEvent<Element: Sendable>: Sendable {
  /// The element.
  case success(Element)
  /// The failure.
  case error(any Error)
}

/// A stream of exactly one element, or an error: what a request is (law 29).
public struct Single<Element: Sendable>: ObservableConvertibleType {
  @usableFromInline let observable: Observable<Element>

  /// Wraps a stream that is known to emit one element and complete, or to fail.
  @inlinable
  init(trusted observable: Observable<Element>) { self.observable = observable }

  /// The same as a stream of one element.
  @inlinable
  public func asObservable() -> Observable<Element> { observable }

  /// A single whose result comes from `subscribe`, which runs at each subscription.
  ///
  /// The observer may be called from any thread; the first result wins, the rest is ignored (law 29).
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

  /// Succeeds with `element` at once.
  @inlinable
  public static func just(_ element: Element) -> Single<Element> { Single(trusted: .just(element)) }

  /// Succeeds with `element` in an item that it schedules on `scheduler`.
  @inlinable
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Single<Element> {
    Single(trusted: .just(element, scheduler: scheduler))
  }

  /// Fails with `error` at once.
  @inlinable
  public static func error(_ error: any Error) -> Single<Element> { Single(trusted: .error(error)) }

  /// Never gives a result.
  @inlinable
  public static func never() -> Single<Element> { Single(trusted: .never()) }

  /// Asks `factory` for a single at each subscription; what it throws becomes the error (law 7).
  @inlinable
  public static func deferred(_ factory: @escaping @Sendable () throws -> Single<Element>) -> Single<Element> {
    Single(trusted: .deferred { try factory().observable })
  }

  /// Makes a resource at each subscription, does the work of `singleFactory` with it, and disposes it after the result or
  /// the disposal; what either factory throws becomes the error (law 7).
  @inlinable
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    singleFactory: @escaping @Sendable (Resource) throws -> Single<Element>
  ) -> Single<Element> {
    Single(trusted: .using(resourceFactory) { try singleFactory($0).observable })
  }

  /// Starts the work and handles its result, once, on whatever thread it arrives.
  ///
  /// An error without `onError` goes to `Hooks.onUnhandledError` with the place of this call (law 6). `onDisposed` is
  /// called once, after the result or the disposal.
  @inlinable
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribe(onNext: onSuccess, onError: onError, onDisposed: onDisposed, file: file, line: line)
  }

  /// Starts the work and hands its result to `observer`, once, on whatever thread it arrives.
  @inlinable
  public func subscribe(
    _ observer: @escaping @Sendable (SingleEvent<Element>) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onSuccess: { observer(.success($0)) }, onError: { observer(.error($0)) }, file: file, line: line)
  }
}

/// The entrance of a `Single`: the first result wins.
@usableFromInline
final class OneResult<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let next: Observable<Element>.Next
  // Raised by the first result.
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
