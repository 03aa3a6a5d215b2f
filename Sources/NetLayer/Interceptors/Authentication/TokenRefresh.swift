import PortableFoundation
import Streams

/// The current token and its refresh: `TokenState` with the store, its lock, the closure of the app, and timers.
final class TokenRefresh: Sendable {
  typealias Held = TokenState.Held

  private struct Core {
    var state: TokenState
    /// The callers who wait for a token; `nil` means that another user has signed in or out.
    var callers: [Int: @Sendable (SingleEvent<Held?>) -> Void] = [:]
    var setters: [Int: CheckedContinuation<Void, any Error>] = [:]
    var locks: [Int: any Disposable] = [:]
    var timers: [Int: any Disposable] = [:]
  }

  private let store: any TokenStore
  private let timeout: Duration
  private let refresh: @Sendable (Token?) -> Single<Token>
  /// Guards the state. The store, the closure and the callers are used outside the lock.
  private let core: Locked<Core>
  /// Signals each change of the token.
  private let changed = PublishSubject<Void>()
  /// Signals each sign-in and sign-out, and each refreshed token with which the server has accepted a request. A token that
  /// the server rejects, too, does not end a wait.
  let signedIn = PublishSubject<Void>()
  /// The clock of what no call has begun.
  private static let clock = ConcurrentDispatchQueueScheduler(qos: .utility)

  init(
    _ store: any TokenStore, leeway: Double, maxRefreshes: Int, window: Double, timeout: Duration,
    refresh: @escaping @Sendable (Token?) -> Single<Token>
  ) {
    (self.store, self.timeout, self.refresh) = (store, timeout, refresh)
    core = Locked(Core(state: TokenState(leeway: leeway, maxRefreshes: maxRefreshes, window: window)))
  }

  /// Whether the store has been read, and the token in memory; `nil` until then.
  var isLoaded: Bool { core.withLock { $0.state.knowledge == .known } }
  var known: Held? { core.withLock { $0.state.knowledge == .known ? $0.state.session : nil } }

  /// The user of the token, which survives a refresh.
  var accountState: AccountState { core.withLock { $0.state.user } }

  /// The same at the time `now`, when a token that was set is first used.
  func known(at now: Date) -> Held? { core.withLock { $0.state.known(at: now) } }

  /// Emits the current token; the first call loads it from the store.
  var current: Single<Held> {
    .deferred { [self] in
      if let known { return .just(known) }
      return load().map { [self] in core.withLock { $0.state.session } }
    }
  }

  /// The user of the current token. Emitted when it is known, and after each change.
  var accountStates: Observable<AccountState> {
    .deferred { [self] in
      changed.startWith(()).flatMap { [self] _ in current.asObservable().map { [self] _ in accountState } }
        .distinctUntilChanged()
    }
  }

  /// Reads the store, once for all requests that need the token.
  func load() -> Single<Void> { wait(Self.clock) { .need($0) }.map { _ in } }

  /// Returns a token that differs from `old`: the current token, or the refreshed one. Starts a refresh if none is in
  /// progress. Returns `nil` if another user has signed in or out since.
  func replacement(of old: Held, _ clock: any SchedulerType) -> Single<Held?> { wait(clock) { .renew($0, old) } }

  func replace(with token: Token?) async throws {
    let id = core.withLock { $0.state.newID() }
    try await withCheckedThrowingContinuation { continuation in
      core.withLock { $0.setters[id] = continuation }
      run(.set(token, id), Self.clock)
    }
  }

  /// Records that the server has accepted or rejected a request with a new token.
  func noteAcceptance(of fresh: Held) { run(.accepted(fresh), Self.clock) }
  func noteRefusal(of fresh: Held, at now: Date) { run(.refused(fresh), at: now, Self.clock) }

  private func wait(
    _ clock: any SchedulerType, for event: @escaping @Sendable (Int) -> TokenState.Event
  ) -> Single<Held?> {
    Single.create { [self] observer in
      let id = core.withLock { $0.state.newID() }
      core.withLock { $0.callers[id] = observer }
      run(event(id), clock)
      return Disposables.create { [self] in
        if core.withLock({ $0.callers.removeValue(forKey: id) }) != nil { run(.leave(id), clock) }
      }
    }
  }

  private func run(_ event: TokenState.Event, at time: Date? = nil, _ clock: any SchedulerType) {
    let now = time ?? clock.now
    // What is removed is released after the lock, because it may have errors of the app.
    let (_, _, actions) = core.withLock { ($0.state.failures, $0.state.refreshes, $0.state.handle(event, at: now)) }
    for action in actions { perform(action, clock) }
  }

  private func perform(_ action: TokenState.Action, _ clock: any SchedulerType) {
    switch action {
    case .load: finish(.starting { [store] in try await store.load() }, clock) { .loaded($0) }
    case .read(let id): finish(.starting { [store] in try await store.load() }, clock) { .read(id, $0) }
    case .write(let token): finish(.starting { [store] in try await store.save(token) }, clock) { .written($0) }
    case .lock(let id, let isAgain):
      let attempt = Single.starting { [self] in
        guard let lock = try await store.lockForRefresh() else { return false }
        core.withLock { $0.locks[id] = lock }
        return true
      }
      let due = isAgain ? attempt.delaySubscription(.milliseconds(50), scheduler: clock) : attempt
      finish(due, clock) { .locked(id, $0) }
    case .unlock(let id): core.withLock { $0.locks.removeValue(forKey: id) }?.dispose()
    // No cancellation and no limit ends it, because the old token may be used up.
    case .refresh(let id, let old): finish(refresh(old), clock) { .refreshed(id, $0.mapError(NetworkError.ofRefresh)) }
    case .startLimit(let id):
      let timer = Observable<Int>.timer(timeout, scheduler: clock).subscribe(onNext: { [self] _ in
        core.withLock { _ = $0.timers.removeValue(forKey: id) }
        run(.limit(id), clock)
      })
      core.withLock { $0.timers.updateValue(timer, forKey: id) }?.dispose()
    case .stopLimit(let id): core.withLock { $0.timers.removeValue(forKey: id) }?.dispose()
    case .resume(let id, let held): core.withLock { $0.callers.removeValue(forKey: id) }?(.success(held))
    case .fail(let id, let error): core.withLock { $0.callers.removeValue(forKey: id) }?(.error(error))
    case .end(let id, let error):
      let setter = core.withLock { $0.setters.removeValue(forKey: id) }
      if let error { setter?.resume(throwing: error) } else { setter?.resume() }
    case .noteChange: changed.onNext(())
    case .noteSignIn: signedIn.onNext(())
    case .report(let error): Hooks.onUnhandledError(error, #fileID, #line)
    }
  }

  private func finish<Value: Sendable>(
    _ work: Single<Value>, _ clock: any SchedulerType,
    _ event: @escaping @Sendable (Result<Value, any Error>) -> TokenState.Event
  ) {
    // The event is made outside the lock, because it asks an error of the app for its text.
    _ = work.subscribe(
      onSuccess: { [self] in run(event(.success($0)), clock) }, onError: { [self] in run(event(.failure($0)), clock) })
  }
}
