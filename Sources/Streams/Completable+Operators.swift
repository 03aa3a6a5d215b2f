extension Completable {
  /// Work that is made anew for each subscription; what `factory` throws becomes the error (law 7).
  public static func deferred(_ factory: @escaping @Sendable () throws -> Completable) -> Completable {
    Completable(trusted: .deferred { try factory().observable })
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

  /// Ends `dueTime` later; an error comes at once.
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.delay(dueTime, scheduler: scheduler))
  }

  /// Fails with `StreamError.timeout` when the end takes longer than `dueTime`.
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.timeout(dueTime, scheduler: scheduler))
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
    onSubscribe: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
  ) -> Completable {
    Completable(
      trusted: observable.do(
        onError: onError, onCompleted: onCompleted, onSubscribe: onSubscribe, onDispose: onDispose))
  }
}
