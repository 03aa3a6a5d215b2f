extension ObservableType {
  // RxSwift 6 renamed these; the compiler offers the name that this library uses. None can be called.

  /// Has another name here: `observeOn(_:)`.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> { observeOn(scheduler) }

  /// Has another name here: `subscribeOn(_:)`.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> { subscribeOn(scheduler) }

  /// Has another name here: `catchError(_:)`.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Observable<Element>) -> Observable<Element> {
    catchError(handler)
  }

  /// Has another name here: `catchErrorJustReturn(_:)`.
  @available(*, unavailable, renamed: "catchErrorJustReturn(_:)")
  public func catchAndReturn(_ element: Element) -> Observable<Element> { catchErrorJustReturn(element) }

  /// Has another name here: `retryWhen(_:)`.
  @available(*, unavailable, renamed: "retryWhen(_:)")
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Observable<Element> { retryWhen(notificationHandler) }

  /// Has another name here: `takeUntil(_:)`.
  @available(*, unavailable, renamed: "takeUntil(_:)")
  public func take<Trigger: ObservableConvertibleType>(until other: Trigger) -> Observable<Element> { takeUntil(other) }

  /// Has another name here: `takeWhile(_:)`.
  @available(*, unavailable, renamed: "takeWhile(_:)")
  public func take(while predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    takeWhile(.exclusive, predicate)
  }

  /// Has another name here: `skipUntil(_:)`.
  @available(*, unavailable, renamed: "skipUntil(_:)")
  public func skip<Trigger: ObservableConvertibleType>(until other: Trigger) -> Observable<Element> { skipUntil(other) }

  /// Has another name here: `skip(for:scheduler:)`.
  @available(*, unavailable, renamed: "skip(for:scheduler:)")
  public func skip(_ duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    skip(for: duration, scheduler: scheduler)
  }

  /// Has another name here: `skipWhile(_:)`.
  @available(*, unavailable, renamed: "skipWhile(_:)")
  public func skip(while predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    skipWhile(predicate)
  }
}

extension Single {
  /// Has another name here: `subscribe(onSuccess:onError:)`.
  @available(*, unavailable, renamed: "subscribe(onSuccess:onError:)")
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)?
  ) -> any Disposable { subscribe(onSuccess: onSuccess, onError: onFailure) }

  /// Has another name here: `observeOn(_:)`.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Single<Element> { observeOn(scheduler) }

  /// Has another name here: `subscribeOn(_:)`.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Single<Element> { subscribeOn(scheduler) }

  /// Has another name here: `catchError(_:)`.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single<Element>) -> Single<Element> {
    catchError(handler)
  }

  /// Has another name here: `catchErrorJustReturn(_:)`.
  @available(*, unavailable, renamed: "catchErrorJustReturn(_:)")
  public func catchAndReturn(_ element: Element) -> Single<Element> { catchErrorJustReturn(element) }
}

extension Completable {
  /// Has another name here: `observeOn(_:)`.
  @available(*, unavailable, renamed: "observeOn(_:)")
  public func observe(on scheduler: any ImmediateSchedulerType) -> Completable { observeOn(scheduler) }

  /// Has another name here: `subscribeOn(_:)`.
  @available(*, unavailable, renamed: "subscribeOn(_:)")
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Completable { subscribeOn(scheduler) }

  /// Has another name here: `catchError(_:)`.
  @available(*, unavailable, renamed: "catchError(_:)")
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Completable) -> Completable {
    catchError(handler)
  }
}
