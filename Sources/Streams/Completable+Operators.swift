extension Completable {
  /// Work that is made anew for each subscription; what `factory` throws becomes the error (law 7).
  public static func deferred(_ factory: @escaping @Sendable () throws -> Completable) -> Completable {
    Completable(trusted: .deferred { try factory().observable })
  }

  /// Makes a resource at each subscription, does the work of `completableFactory` with it, and disposes it after the end or
  /// the disposal; what either factory throws becomes the error (law 7).
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    completableFactory: @escaping @Sendable (Resource) throws -> Completable
  ) -> Completable {
    Completable(trusted: .using(resourceFactory) { try completableFactory($0).observable })
  }

  /// Never ends.
  public static func never() -> Completable { Completable(trusted: .never()) }

  /// Is done when all `completables` are, which run at once; the first error ends it and gives the others up (law 13).
  public static func zip(_ completables: Completable...) -> Completable { zip(completables) }

  /// Is done when all `completables` are, which run at once; the first error ends it and gives the others up (law 13).
  public static func zip<S: Sequence & Sendable>(_ completables: S) -> Completable where S.Element == Completable {
    Completable(trusted: .merge(completables.map(\.observable)))
  }

  /// Runs `completables` one after the other; an error ends all.
  public static func concat(_ completables: Completable...) -> Completable { concat(completables) }

  /// Runs `completables` one after the other; an error ends all.
  public static func concat<S: Sequence & Sendable>(_ completables: S) -> Completable where S.Element == Completable {
    Completable(trusted: .concat(completables.map(\.observable)))
  }

  /// Goes on with what `handler` makes of the error; what it throws goes downstream (law 17).
  public func catchError(_ handler: @escaping @Sendable (any Error) throws -> Completable) -> Completable {
    Completable(trusted: observable.catchError { try handler($0).observable })
  }

  /// Fails with what `transform` makes of the error, or with what it throws.
  public func mapError(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Completable {
    Completable(trusted: observable.mapError(transform))
  }

  /// Runs again after an error until there have been `maxAttemptCount` attempts in all (law 18).
  public func retry(_ maxAttemptCount: Int) -> Completable {
    Completable(trusted: observable.retry(maxAttemptCount))
  }

  /// Runs again after errors as `policy` says; the last error is forwarded (law 18).
  public func retry(_ policy: RetryPolicy) -> Completable { Completable(trusted: observable.retry(policy)) }

  /// Runs again each time the stream that `notificationHandler` makes of the errors emits (law 18); that stream's own end
  /// is the end of the work.
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Completable {
    Completable(trusted: observable.retryWhen(notificationHandler))
  }

  /// Starts the work when `dueTime` has passed, on `scheduler`.
  public func delaySubscription(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.delaySubscription(dueTime, scheduler: scheduler))
  }

  /// Ends `dueTime` later; an error comes at once.
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.delay(dueTime, scheduler: scheduler))
  }

  /// Fails with `StreamError.timeout` when the end takes longer than `dueTime`.
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.timeout(dueTime, scheduler: scheduler))
  }

  /// Goes on with `other` when the end takes longer than `dueTime`.
  public func timeout(_ dueTime: Duration, other: Completable, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.timeout(dueTime, other: other.observable, scheduler: scheduler))
  }

  /// Prints subscription, end and disposal to standard error, one line each with the time.
  ///
  /// - Parameters:
  ///   - identifier: what the lines are marked with; the place of this call, if there is none.
  ///   - print: takes the lines instead of standard error.
  ///   - file: the place of this call.
  ///   - line: the place of this call.
  public func debug(
    _ identifier: String? = nil, print: (@Sendable (String) -> Void)? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Completable {
    Completable(trusted: observable.debug(identifier, print: print, file: file, line: line))
  }

  /// Delivers the end on `scheduler` (law 20).
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Completable {
    Completable(trusted: observable.observeOn(scheduler))
  }

  /// Starts the work on `scheduler`.
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Completable {
    Completable(trusted: observable.subscribeOn(scheduler))
  }

  /// Lets closures watch the end without changing it; what they throw becomes the error (law 7).
  public func `do`(
    onError: (@Sendable (any Error) throws -> Void)? = nil, onCompleted: (@Sendable () throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Completable {
    Completable(
      trusted: observable.do(
        onError: onError, onCompleted: onCompleted, onSubscribe: onSubscribe, onSubscribed: onSubscribed,
        onDispose: onDispose))
  }
}
