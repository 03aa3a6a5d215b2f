extension ObservableType {
  // RxSwift 5 and 6 have these operators under other names. They are unavailable, and the compiler suggests the name that
  // this library uses.

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

  /// Unavailable: use `takeWhile(_:_:)` instead.
  @available(*, unavailable, renamed: "takeWhile(_:_:)")
  public func take(
    while predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior
  ) -> Observable<Element> { takeWhile(behavior, predicate) }

  /// Unavailable: use `takeWhile(_:_:)` with the opposite predicate instead.
  @available(*, unavailable, message: "use takeWhile(.exclusive) or takeWhile(.inclusive) with the opposite predicate")
  public func take(
    until predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
  ) -> Observable<Element> { takeWhile(behavior) { try !predicate($0) } }

  /// Unavailable: use `take(for:scheduler:)` instead.
  @available(*, unavailable, renamed: "take(for:scheduler:)")
  public func take(_ duration: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    take(for: duration, scheduler: scheduler)
  }

  /// Unavailable: use `elementAt(_:)` instead.
  @available(*, unavailable, renamed: "elementAt(_:)")
  public func element(at index: Int) -> Observable<Element> { elementAt(index) }

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

  /// Unavailable: use `retryWhen(_:)` instead.
  @available(*, unavailable, renamed: "retryWhen(_:)")
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Single<Element> { retryWhen(notificationHandler) }
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

  /// Unavailable: use `retryWhen(_:)` instead.
  @available(*, unavailable, renamed: "retryWhen(_:)")
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Completable { retryWhen(notificationHandler) }
}
