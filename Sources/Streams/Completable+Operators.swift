extension Completable {
  /// Returns work that `factory` creates for each subscription; an error thrown by `factory` fails the work (contract,
  /// law 7).
  public static func deferred(_ factory: @escaping @Sendable () throws -> Completable) -> Completable {
    Completable(trusted: .deferred { try factory().observable })
  }

  /// Creates a resource for each subscription, runs the work that uses it, and disposes the resource when the work
  /// terminates or is disposed.
  ///
  /// An error thrown by either factory fails the work (contract, law 7).
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    completableFactory: @escaping @Sendable (Resource) throws -> Completable
  ) -> Completable {
    Completable(trusted: .using(resourceFactory) { try completableFactory($0).observable })
  }

  /// Returns work that never terminates.
  public static func never() -> Completable { Completable(trusted: .never()) }

  /// Runs all `completables` concurrently and completes when all of them have completed.
  ///
  /// The first error fails the result and disposes the others (contract, law 13).
  public static func zip(_ completables: Completable...) -> Completable { zip(completables) }

  /// Runs all `completables` concurrently and completes when all of them have completed.
  ///
  /// The first error fails the result and disposes the others (contract, law 13).
  public static func zip<S: Sequence & Sendable>(_ completables: S) -> Completable where S.Element == Completable {
    Completable(trusted: .merge(completables.map(\.observable)))
  }

  /// Runs `completables` one after another; the first error ends the sequence.
  public static func concat(_ completables: Completable...) -> Completable { concat(completables) }

  /// Runs `completables` one after another; the first error ends the sequence.
  public static func concat<S: Sequence & Sendable>(_ completables: S) -> Completable where S.Element == Completable {
    Completable(trusted: .concat(completables.map(\.observable)))
  }

  /// Continues with the work that `handler` returns for the error; an error thrown by `handler` is forwarded (contract,
  /// law 17).
  public func catchError(_ handler: @escaping @Sendable (any Error) throws -> Completable) -> Completable {
    Completable(trusted: observable.catchError { try handler($0).observable })
  }

  /// Replaces the error with the error that `transform` returns or throws.
  public func mapError(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Completable {
    Completable(trusted: observable.mapError(transform))
  }

  /// Runs the work again after an error, up to `maxAttemptCount` attempts in total (contract, law 18).
  public func retry(_ maxAttemptCount: Int) -> Completable {
    Completable(trusted: observable.retry(maxAttemptCount))
  }

  /// Runs the work again after errors, as `policy` specifies; the last error is forwarded (contract, law 18).
  public func retry(_ policy: RetryPolicy) -> Completable { Completable(trusted: observable.retry(policy)) }

  /// Runs the work again each time the stream returned by `notificationHandler` emits (contract, law 18).
  ///
  /// `notificationHandler` receives the stream of errors. When the stream that it returns completes or fails, the work
  /// does the same.
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) throws -> Trigger
  ) -> Completable {
    Completable(trusted: observable.retryWhen(notificationHandler))
  }

  /// Starts the work on `scheduler` after `dueTime`.
  public func delaySubscription(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.delaySubscription(dueTime, scheduler: scheduler))
  }

  /// Delays completion by `dueTime`; errors are forwarded immediately.
  public func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.delay(dueTime, scheduler: scheduler))
  }

  /// Fails with `StreamError.timeout` if the work has not terminated after `dueTime`.
  public func timeout(_ dueTime: Duration, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.timeout(dueTime, scheduler: scheduler))
  }

  /// Continues with `other` if the work has not terminated after `dueTime`.
  public func timeout(_ dueTime: Duration, other: Completable, scheduler: any SchedulerType) -> Completable {
    Completable(trusted: observable.timeout(dueTime, other: other.observable, scheduler: scheduler))
  }

  /// Prints the subscription, the terminal event and the disposal to standard error, one line each, with the time.
  ///
  /// - Parameters:
  ///   - identifier: The label of the lines; by default, the file and line of this call.
  ///   - print: A closure that receives the lines instead of standard error.
  ///   - file: The file of this call.
  ///   - line: The line of this call.
  public func debug(
    _ identifier: String? = nil, print: (@Sendable (String) -> Void)? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Completable {
    Completable(trusted: observable.debug(identifier, print: print, file: file, line: line))
  }

  /// Delivers the terminal event on `scheduler` (contract, law 20).
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Completable {
    Completable(trusted: observable.observeOn(scheduler))
  }

  /// Starts the work on `scheduler`.
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Completable {
    Completable(trusted: observable.subscribeOn(scheduler))
  }

  /// Calls closures for the lifecycle events, which pass unchanged; an error that a closure throws fails the work
  /// (contract, law 7).
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
