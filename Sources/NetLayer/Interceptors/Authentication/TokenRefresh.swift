import PortableFoundation
import Streams

/// The current token and its refresh. Only one refresh runs at a time.
final class TokenRefresh: Sendable {
  /// A token and its owner: the generation changes at each sign-in or sign-out.
  struct Held: Sendable {
    var token: Token?
    var generation: Int
    /// The time to replace the token before the server rejects it; `nil` to wait for the rejection.
    var renewal: Date?
  }

  private struct State {
    var held = Held(token: nil, generation: 0)
    var isLoaded = false
    /// Whether the time of the renewal is yet to be computed, because the token was set outside a call.
    var isNew = false
    /// The load in progress.
    var load: ReplaySubject<Void>?
    /// The token that this process last read from the store or wrote to it.
    var stored: Token?
    /// Whether the store has returned a token, so that a missing token is a sign-out in another process.
    var isReadable = false
    /// The number of changes, so that the store ends up with the last token.
    var version = 0
    /// The refresh in progress.
    var refresh: ReplaySubject<Held>?
    /// Whether a refresh holds the lock of the store; also one that was discarded meanwhile.
    var holdsLock = false
    /// The number of replacements that are not yet in the store.
    var replacements = 0
    /// The times of unsuccessful refreshes within the window.
    var failures: [Date] = []
    /// Whether `failures` includes the rejection of the current token.
    var isRefused = false

    mutating func put(_ token: Token?, renewal: Date?) {
      held.token = token
      held.renewal = renewal
      isNew = false
      version += 1
      isRefused = false
    }
  }

  private let store: any TokenStore
  private let leeway: Double
  private let maxRefreshes: Int
  private let window: Double
  private let timeout: Duration
  private let refresh: @Sendable (Token?) -> Single<Token>
  /// Guards the state, which subscribers, the end of a refresh and `setToken` access. The store is used and waiting
  /// requests are resumed outside the lock.
  private let state = Locked(State())
  /// Signals a change of the owner.
  let changed = PublishSubject<Void>()

  init(
    _ store: any TokenStore, leeway: Double, maxRefreshes: Int, window: Double, timeout: Duration,
    refresh: @escaping @Sendable (Token?) -> Single<Token>
  ) {
    self.store = store
    self.leeway = leeway
    self.maxRefreshes = maxRefreshes
    self.window = window
    self.timeout = timeout
    self.refresh = refresh
  }

  /// The token in memory; `nil` until the store has been read.
  var known: Held? { state.withLock { $0.isLoaded ? $0.held : nil } }

  /// Whether the store has been read.
  var isLoaded: Bool { state.withLock { $0.isLoaded } }

  /// The user of the token, which survives a refresh.
  var accountState: AccountState {
    let (isLoaded, held) = state.withLock { ($0.isLoaded, $0.held) }
    let user: AccountState.User =
      if !isLoaded { .unknown } else {
        held.token.map { $0.account.map { .named($0) } ?? .unnamed($0.access) } ?? .nobody
      }
    return AccountState(user, signIns: held.generation)
  }

  /// The same at the time `now`, when a token that was set is first used.
  func known(at now: Date) -> Held? {
    state.withLock { state in
      if state.isNew {
        let stored = renewal(ofStored: state.held.token)
        // A token with little time left may be short-lived.
        state.held.renewal = stored.map { $0 > now } ?? false ? stored : renewal(ofNew: state.held.token, now)
        state.isNew = false
      }
      return state.isLoaded ? state.held : nil
    }
  }

  /// Emits the current token; the first call loads it from the store.
  var current: Single<Held> {
    .deferred { [self] in
      if let known { return .just(known) }
      return load().map { [self] in state.withLock { $0.held } }
    }
  }

  /// The account of the current token, or else the token; `nil` for none. Emitted when it is known, and after each change.
  var owner: Observable<String?> {
    .deferred { [self] in
      changed.startWith(()).flatMap { [self] _ in current.asObservable().map { $0.token?.owner } }
        .distinctUntilChanged()
    }
  }

  /// Reads the store, once for all requests that need the token.
  func load() -> Single<Void> {
    let (subject, begins) = state.withLock { state in
      if let load = state.load { return (load, false) }
      let subject = ReplaySubject<Void>.create(bufferSize: 1)
      if state.isLoaded { subject.onNext(()) } else { state.load = subject }
      return (subject, !state.isLoaded)
    }
    if begins {
      // No cancellation ends it, because other requests may wait for it.
      _ = Single.starting { [store] in try await store.load() }.subscribe(
        onSuccess: { [self] loaded in
          state.withLock { state in
            state.load = nil
            // A user may have signed in meanwhile.
            guard !state.isLoaded else { return }
            state.held.token = loaded
            state.held.renewal = renewal(ofStored: loaded)
            state.stored = loaded
            state.isReadable = loaded != nil
            state.isLoaded = true
          }
          subject.onNext(())
        },
        onError: { [self] error in
          state.withLock { $0.load = nil }
          subject.onError(error)
        })
    }
    return subject.asObservable().take(1).asSingle()
  }

  func replace(with token: Token?) async throws {
    let (waiting, held, holdsLock) = state.withLock { state in
      if token?.isKnownToBelong(toOwnerOf: state.held.token) != true { state.held.generation += 1 }
      state.put(token, renewal: nil)
      state.isNew = true
      state.isLoaded = true
      state.failures = []
      state.replacements += 1
      // Discard the refresh. Requests that wait for it get this token.
      return (state.refresh.take(), state.held, state.holdsLock)
    }
    defer { state.withLock { $0.replacements -= 1 } }
    changed.onNext(())
    if let waiting { Self.end(waiting, with: held) }
    // Otherwise a refresh in another process could read the store before this token is saved, and save its own after it.
    let lock = holdsLock ? nil : await lockForSave()
    defer { lock?.dispose() }
    try await save()
  }

  /// Locks the store. Returns `nil` if another process holds the lock for more than 5 s, because a sign-out must not wait for
  /// a server that does not respond to that process. Its refresh then finds this token.
  private func lockForSave() async -> (any Disposable)? {
    for _ in 0..<100 {
      do {
        if let lock = try await store.lockForRefresh() { return lock }
        try await Task.sleep(for: .milliseconds(50))
      } catch is CancellationError {
        return nil
      } catch {
        Hooks.onUnhandledError(error, #fileID, #line)
        return nil
      }
    }
    return nil
  }

  /// Records that the server has rejected a new token.
  func noteRefusal(of fresh: Held, at now: Date) {
    state.withLock { state in
      guard state.held.token == fresh.token, !state.isRefused else { return }
      state.isRefused = true
      state.failures.append(now)
    }
  }

  /// Returns the time to replace a new token: one request's duration before its expiry, but not before half of its
  /// lifetime. A token that expired in transit only shows that the clocks differ.
  private func renewal(ofNew token: Token?, _ now: Date) -> Date? {
    guard let expiry = token?.expiry else { return nil }
    let left = expiry.timeIntervalSince(now)
    return left > 0 ? expiry.addingTimeInterval(-min(leeway, left / 2)) : nil
  }

  /// Returns the time to replace a token of unknown age.
  private func renewal(ofStored token: Token?) -> Date? { token?.expiry?.addingTimeInterval(-leeway) }

  /// Saves until the saved token is the current one, because two concurrent saves must not leave the older token in the
  /// store.
  private func save() async throws {
    while true {
      let (token, version) = state.withLock { ($0.held.token, $0.version) }
      try await store.save(token)
      let isLast = state.withLock { state in
        state.stored = token
        return state.version == version
      }
      if isLast { return }
    }
  }

  private enum Step {
    case use(Held?)
    case wait(ReplaySubject<Held>)
    case begin(ReplaySubject<Held>)
    case refuse
  }

  /// Returns a token that differs from `old`: the current token, or the refreshed one. Starts a refresh if none is in
  /// progress. Returns `nil` if another user has signed in or out since, because a request of one user must not be
  /// retried as another.
  func replacement(of old: Held, _ clock: any SchedulerType) -> Single<Held?> {
    let now = clock.now
    let step = state.withLock { state -> Step in
      if state.held.generation != old.generation, old.token != nil { return .use(nil) }
      if state.held.token != nil, state.held.token != old.token { return .use(state.held) }
      if let refresh = state.refresh { return .wait(refresh) }
      // Times can be in the future if the clock was set back.
      state.failures.removeAll { now.timeIntervalSince($0) >= window || $0 > now }
      guard state.failures.count < maxRefreshes else { return .refuse }
      let subject = ReplaySubject<Held>.create(bufferSize: 1)
      state.refresh = subject
      return .begin(subject)
    }
    switch step {
    case .use(let held): return .just(held)
    case .wait(let subject): return Self.result(of: subject, for: old)
    case .refuse:
      let reason =
        "the server still rejects the token after \(maxRefreshes) refreshes within \(Duration(clampingSeconds: window).text); "
        + "sign in again, or raise maxRefreshes"
      return .error(NetworkError(kind: .authentication, reason: reason))
    case .begin(let subject):
      let lock = SerialDisposable()
      // No cancellation ends the refresh, because the old token may be used up.
      _ = locked(lock, for: subject, clock).flatMap { [self] in renewed(old.token, clock) }
        .timeout(timeout, scheduler: clock)
        .subscribe(
          onSuccess: { [self] in finish(subject, .success($0), lock, clock.now) },
          onError: { [self] in finish(subject, .failure($0), lock, clock.now) })
      return Self.result(of: subject, for: old)
    }
  }

  private static func result(of subject: ReplaySubject<Held>, for old: Held) -> Single<Held?> {
    subject.asObservable().map { $0.generation == old.generation || old.token == nil ? $0 : nil }.asSingle()
  }

  /// The error while another process refreshes the same token.
  private struct Busy: Error {}

  /// The error of a refresh that was discarded before it began.
  private struct Discarded: Error {}

  /// Waits until no other process refreshes, then stores the acquired lock in `lock`.
  private func locked(
    _ lock: SerialDisposable, for subject: ReplaySubject<Held>, _ clock: any SchedulerType
  ) -> Single<Void> {
    Single.starting { [store] in
      do {
        guard let taken = try await store.lockForRefresh() else { throw Busy() }
        lock.disposable = taken
      } catch let busy as Busy {
        throw busy
      } catch {
        // Without a lock, the refresh continues; only a concurrent refresh would conflict.
        Hooks.onUnhandledError(error, #fileID, #line)
      }
    }
    .retryWhen { errors in
      errors.flatMap { _ in Observable<Int>.timer(.milliseconds(50), scheduler: clock) }
    }
    .map { [self] in
      try state.withLock { state in
        // A user has signed in or out during the wait.
        guard state.refresh === subject else { throw Discarded() }
        state.holdsLock = true
      }
    }
  }

  private func release(_ lock: SerialDisposable) {
    state.withLock { $0.holdsLock = false }
    lock.dispose()
  }

  private struct Renewed {
    /// `nil` after a sign-out in another process.
    var token: Token?
    /// Whether another process has written the token to the store.
    var isStored = false
  }

  /// Returns the token that another process has stored meanwhile, or else the result of the refresh.
  private func renewed(_ old: Token?, _ clock: any SchedulerType) -> Single<Renewed> {
    let (known, isReplacing) = state.withLock { ($0.stored, $0.replacements > 0) }
    // The store does not have the present user yet.
    if isReplacing { return refreshed(old) }
    return Single.starting { [self] () -> (found: Token??, isSignOut: Bool) in
      do {
        let found = try await store.load()
        let isSignOut = state.withLock { state in
          if found != nil { state.isReadable = true }
          return found == nil && state.isReadable && old != nil
        }
        return (found, isSignOut)
      } catch {
        // An unreadable store has no new token.
        return (nil, false)
      }
    }
    .flatMap { [self] stored, isSignOut in
      if isSignOut { return .just(Renewed(token: nil, isStored: true)) }
      guard let found = stored ?? nil, found != known, found != old else { return refreshed(old, stored) }
      if found.expiry.map({ $0 > clock.now }) ?? true { return .just(Renewed(token: found, isStored: true)) }
      return refreshed(found, stored)
    }
  }

  /// Returns the result of the refresh. If the store has changed since it returned `stored`, returns what it has now: a user
  /// has signed in or out in another process, which must not be undone.
  ///
  /// - Parameter stored: `nil` if the store was not read.
  private func refreshed(_ old: Token?, _ stored: Token?? = .none) -> Single<Renewed> {
    refresh(old).flatMap { [self] new in
      var new = new
      new.account = new.account ?? old?.account
      let renewed = Renewed(token: new)
      guard let stored else { return .just(renewed) }
      return Single.starting { [self] in
        do {
          let present = try await store.load()
          // The refresh may have saved its token itself.
          if present?.access == renewed.token?.access { return renewed }
          return present == stored ? renewed : Renewed(token: present, isStored: true)
        } catch {
          // An unreadable store has no other token.
          return renewed
        }
      }
    }
  }

  private func finish(
    _ subject: ReplaySubject<Held>, _ result: Result<Renewed, any Error>, _ lock: SerialDisposable,
    _ now: Date
  ) {
    let (isCurrent, held) = state.withLock { state -> (Bool, Held) in
      guard state.refresh === subject else { return (false, state.held) }
      state.refresh = nil
      switch result {
      case .success(let new):
        // Another process has signed another user in, or this one out.
        if new.token?.isKnownNotToBelong(toOwnerOf: state.held.token) ?? true { state.held.generation += 1 }
        state.put(new.token, renewal: new.isStored ? renewal(ofStored: new.token) : renewal(ofNew: new.token, now))
        if new.isStored { state.stored = new.token }
      case .failure(let error):
        if (error as? NetworkError)?.kind.isTransient != true { state.failures.append(now) }
      }
      return (true, state.held)
    }
    let emit: @Sendable () -> Void = { [self] in
      release(lock)
      Self.end(subject, with: held)
    }
    switch result {
    case .success(let new) where isCurrent:
      changed.onNext(())
      guard !new.isStored else { return emit() }
      _ = Single.starting { [self] in try await save() }.subscribe(
        onSuccess: emit,
        onError: { error in
          // A token that can't be saved is still valid for this run of the program.
          Hooks.onUnhandledError(error, #fileID, #line)
          emit()
        })
    case .failure(let error) where isCurrent:
      release(lock)
      let known = NetworkError.wrapping(error)
      let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
      subject.onError(
        NetworkError(
          kind: .authentication, message: known.words, reason: reason, response: known.response, underlying: error))
    // A user has signed in or out meanwhile.
    default: emit()
    }
  }

  /// Ends the wait for a refresh with the current token.
  private static func end(_ subject: ReplaySubject<Held>, with held: Held) {
    guard held.token != nil else {
      return subject.onError(
        NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed"))
    }
    subject.onNext(held)
    subject.onCompleted()
  }
}
