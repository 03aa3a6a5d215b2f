extension ObservableType {
  // RxSwift 6 renamed these operators. They are unavailable, and the compiler suggests the name that this library uses.

  /// Unavailable: use `observeOn(_:)` instead.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> { observeOn(scheduler) }

  /// Unavailable: use `subscribeOn(_:)` instead.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> { subscribeOn(scheduler) }

  /// Unavailable: use `catchError(_:)` instead.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Observable<Element>) -> Observable<Element> {
    catchError(handler)
  }

  /// Unavailable: use `catchErrorJustReturn(_:)` instead.
  @available(*, unavailable, renamed: "catchErrorJustReturn(_:)")
  public func catchAndReturn(_ element: Element) -> Observable<Element> { catchErrorJustReturn(element) }

  /// Unavailable: use `retryWhen(_:)` instead.
  @available(*, unavailable, renamed: "retryWhen(_:)")
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Observable<Element> { retryWhen(notificationHandler) }

  /// Unavailable: use `takeUntil(_:)` instead.
  @available(*, unavailable, renamed: "takeUntil(_:)")
  public func take<Trigger: ObservableConvertibleType>(until other: Trigger) -> Observable<Element> { takeUntil(other) }

  /// Unavailable: use `takeWhile(_:)` instead.
  @available(*, unavailable, renamed: "takeWhile(_:)")
  public func take(while predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    takeWhile(.exclusive, predicate)
  }

  /// Unavailable: use `skipUntil(_:)` instead.
  @available(*, unavailable, renamed: "skipUntil(_:)")
  public func skip<Trigger: ObservableConvertibleType>(until other: Trigger) -> Observable<Element> { skipUntil(other) }

  /// Unavailable: use `skip(for:scheduler:)` instead.
  @available(*, unavailable, renamed: "skip(for:scheduler:)")
  public func skip(_ duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    skip(for: duration, scheduler: scheduler)
  }

  /// Unavailable: use `skipWhile(_:)` instead.
  @available(*, unavailable, renamed: "skipWhile(_:)")
  public func skip(while predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    skipWhile(predicate)
  }
}

extension Single {
  /// Unavailable: use `subscribe(onSuccess:onError:)` instead.
  @available(*, unavailable, renamed: "subscribe(onSuccess:onError:)")
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)?
  ) -> any Disposable { subscribe(onSuccess: onSuccess, onError: onFailure) }

  /// Unavailable: use `observeOn(_:)` instead.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Single<Element> { observeOn(scheduler) }

  /// Unavailable: use `subscribeOn(_:)` instead.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Single<Element> { subscribeOn(scheduler) }

  /// Unavailable: use `catchError(_:)` instead.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single<Element>) -> Single<Element> {
    catchError(handler)
  }

  /// Unavailable: use `catchErrorJustReturn(_:)` instead.
  @available(*, unavailable, renamed: "catchErrorJustReturn(_:)")
  public func catchAndReturn(_ element: Element) -> Single<Element> { catchErrorJustReturn(element) }
}

extension Completable {
  /// Unavailable: use `observeOn(_:)` instead.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Completable { observeOn(scheduler) }

  /// Unavailable: use `subscribeOn(_:)` instead.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Completable { subscribeOn(scheduler) }

  /// Unavailable: use `catchError(_:)` instead.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Completable) -> Completable {
    catchError(handler)
  }
}
