extension Single {
  /// Transforms the element; an error thrown by `transform` fails the result (contract, law 7).
  @inlinable
  public func map<Result: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Result) -> Single<Result> {
    Single<Result>(trusted: observable.map(transform))
  }

  /// Continues with the single that `selector` returns for the element; an error thrown by `selector` fails the result
  /// (contract, law 7).
  @inlinable
  public func flatMap<Result: Sendable>(
    _ selector: @escaping @Sendable (Element) throws -> Single<Result>
  ) -> Single<Result> {
    let source = observable
    return Single<Result>(
      trusted: Observable(push: { subscription, next in
        let scope = ThenScope(subscription, selector, next)
        source.run(scope) { try scope.push($0) }
      }))
  }

  /// Continues with the single that `handler` returns for the error; an error thrown by `handler` is forwarded
  /// (contract, law 17).
  @inlinable
  public func catchError(_ handler: @escaping @Sendable (any Error) throws -> Single<Element>) -> Single<Element> {
    Single(trusted: observable.catchError { try handler($0).observable })
  }

  /// Succeeds with `element` instead of failing.
  @inlinable
  public func catchErrorJustReturn(_ element: Element) -> Single<Element> {
    Single(trusted: observable.catchErrorJustReturn(element))
  }

  /// Replaces the error with the error that `transform` returns or throws.
  public func mapError(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Single<Element> {
    Single(trusted: observable.mapError(transform))
  }

  /// Subscribes again after an error, up to `maxAttemptCount` attempts in total (contract, law 18).
  ///
  /// If `maxAttemptCount` is 0 or less, fails with `StreamError.noElements` without subscribing.
  public func retry(_ maxAttemptCount: Int) -> Single<Element> {
    maxAttemptCount > 0 ? Single(trusted: observable.retry(maxAttemptCount)) : .error(StreamError.noElements)
  }

  /// Delivers the result on `scheduler` (contract, law 20).
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Single<Element> {
    Single(trusted: observable.observeOn(scheduler))
  }

  /// Starts the work on `scheduler`.
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Single<Element> {
    Single(trusted: observable.subscribeOn(scheduler))
  }

  /// Delays the element by `dueTime`; errors are forwarded immediately.
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Single<Element> {
    Single(trusted: observable.delay(dueTime, scheduler: scheduler))
  }

  /// Fails with `StreamError.timeout` if there is no result after `dueTime`.
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Single<Element> {
    Single(
      trusted: observable.timeout(dueTime, scheduler: scheduler, error: StreamError.timeout, isSingle: true))
  }

  /// Calls closures for the lifecycle events, which pass unchanged; an error that a closure throws fails the result
  /// (contract, law 7).
  ///
  /// `onSubscribe` runs before the work starts, `onSubscribed` after it has started, and `onDispose` once, after the
  /// result or the disposal (contract, law 5).
  public func `do`(
    onSuccess: (@Sendable (Element) throws -> Void)? = nil, onError: (@Sendable (any Error) throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Single<Element> {
    Single(
      trusted: observable.do(
        onNext: onSuccess, onError: onError, onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose)
    )
  }

  /// Subscribes again after errors, as `policy` specifies; the last error is forwarded (contract, law 18).
  public func retry(_ policy: RetryPolicy) -> Single<Element> { Single(trusted: observable.retry(policy)) }

  /// Subscribes again each time the stream returned by `notificationHandler` emits (contract, law 18).
  ///
  /// `notificationHandler` receives the stream of errors. If the stream that it returns completes, the result is the
  /// error `StreamError.noElements`.
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Single<Element> {
    observable.retryWhen(notificationHandler).asSingle()
  }

  /// Starts the work on `scheduler` after `dueTime`.
  public func delaySubscription(_ dueTime: Duration, scheduler: any SchedulerType) -> Single<Element> {
    Single(trusted: observable.delaySubscription(dueTime, scheduler: scheduler))
  }

  /// Continues with `other` if there is no result after `dueTime`.
  public func timeout(
    _ dueTime: Duration, other: Single<Element>, scheduler: any SchedulerType
  ) -> Single<Element> {
    Single(trusted: observable.timeout(dueTime, other: other.observable, scheduler: scheduler, isSingle: true))
  }

  /// Prints the subscription, the result and the disposal to standard error, one line each, with the time.
  public func debug(
    _ identifier: String? = nil, print: (@Sendable (String) -> Void)? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Single<Element> {
    Single(trusted: observable.debug(identifier, print: print, file: file, line: line))
  }

  /// Continues with the completable that `selector` returns for the element.
  public func flatMapCompletable(
    _ selector: @escaping @Sendable (Element) throws -> Completable
  ) -> Completable {
    Completable(trusted: observable.flatMap(selector))
  }

  /// Combines the elements of both singles when both have succeeded; the first error fails the result and disposes the
  /// other single.
  public static func zip<A, B>(
    _ a: Single<A>, _ b: Single<B>, resultSelector: @escaping @Sendable (A, B) throws -> Element
  ) -> Single<Element> {
    Single(trusted: Observable<Element>.zip(a, b, resultSelector: resultSelector))
  }

  /// Combines the elements of all three singles when all have succeeded; the first error fails the result and disposes
  /// the others.
  public static func zip<A, B, C>(
    _ a: Single<A>, _ b: Single<B>, _ c: Single<C>,
    resultSelector: @escaping @Sendable (A, B, C) throws -> Element
  ) -> Single<Element> {
    Single(trusted: Observable<Element>.zip(a, b, c, resultSelector: resultSelector))
  }

  /// Combines the elements of all `singles`, in their order, when all have succeeded.
  ///
  /// The first error fails the result and disposes the others.
  public static func zip<A: Sendable>(
    _ singles: [Single<A>], resultSelector: @escaping @Sendable ([A]) throws -> Element
  ) -> Single<Element> {
    guard !singles.isEmpty else { return .deferred { .just(try resultSelector([])) } }
    return Single(trusted: Observable<A>.zip(singles.map(\.observable)).map(resultSelector))
  }

  /// Emits the elements of all `singles`, in their order, when all have succeeded.
  ///
  /// The first error fails the result and disposes the others.
  public static func zip(_ singles: [Single<Element>]) -> Single<[Element]> {
    Single<[Element]>.zip(singles) { $0 }
  }
}

extension Single where Element == Never {
  /// Emits the elements of all `singles` as a tuple when all have succeeded.
  ///
  /// The first error fails the result and disposes the others.
  public static func zip<each Result: Sendable>(
    _ singles: repeat Single<each Result>
  ) -> Single<(repeat each Result)> {
    Single<(repeat each Result)>(trusted: Observable<Never>.zip(repeat each singles))
  }
}

extension Single where Element: FixedWidthInteger & Sendable {
  /// Succeeds with 0 after `dueTime`, on `scheduler`.
  public static func timer(_ dueTime: Duration, scheduler: any SchedulerType) -> Single<Element> {
    Single(trusted: .timer(dueTime, scheduler: scheduler))
  }
}

/// The scope above a `flatMap` of a stream of one element.
///
/// The following stream runs after that element has completed, in the subscription downstream, so that nothing needs to
/// be merged.
@usableFromInline
final class ThenScope<Input: Sendable, Element: Sendable>: Scope, @unchecked Sendable {
  @usableFromInline let selector: @Sendable (Input) throws -> Single<Element>
  @usableFromInline let next: Observable<Element>.Next
  // Safe: written by the only element, taken by the terminal event after it; disposal does not touch it.
  // Row single of Benchmarks/Guard.
  @exclusivity(unchecked) @usableFromInline var following: Observable<Element>.Push?

  @inlinable
  init(
    _ downstream: Subscription, _ selector: @escaping @Sendable (Input) throws -> Single<Element>,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.selector = selector
    self.next = next
    super.init(downstream)
  }

  /// Continues with the stream for `input`. If its element is known, it is delivered immediately.
  @inlinable
  func push(_ input: Input) throws {
    let stream = try selector(input).observable
    guard let element = stream.scalar else { return following = stream.push }
    if !downstream.isStopped { try next(element) }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard error == nil, let following else { return downstream.finish(error) }
    self.following = nil
    following(downstream, next)
    // This runs afterwards: if the second stream has ended the downstream, the downstream has already released this
    // scope in order (contract, law 5).
    if !downstream.isStopped { downstream.disown(self) }
  }
}
