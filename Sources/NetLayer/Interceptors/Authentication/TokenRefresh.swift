import PortableFoundation
import Streams

/// The current token and its refresh, which runs once at a time.
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
    /// The token that this process last read from the store or wrote to it.
    var stored: Token?
    /// The number of changes, so that the store ends with the last one.
    var version = 0
    /// The refresh in progress.
    var refresh: ReplaySubject<Held>?
    /// The times of unsuccessful refreshes within the window.
    var failures: [Date] = []
    /// Whether the rejection of the current token is among them.
    var isRefused = false

    mutating func put(_ token: Token?, renewal: Date?) {
      held.token = token
      held.renewal = renewal
      version += 1
      isRefused = false
    }
  }

  let scheduler: any SchedulerType
  private let store: any TokenStore
  private let leeway: Double
  private let maxRefreshes: Int
  private let window: Double
  private let timeout: Duration
  private let refresh: @Sendable (Token?) -> Single<Token>
  /// Guards the state, which subscribers, the end of a refresh and `setToken` access. The store is used and waiting
  /// requests are resumed outside the lock.
  private let state = Locked(State())

  init(
    _ store: any TokenStore, leeway: Double, maxRefreshes: Int, window: Double, timeout: Duration,
    scheduler: any SchedulerType, refresh: @escaping @Sendable (Token?) -> Single<Token>
  ) {
    self.store = store
    self.leeway = leeway
    self.maxRefreshes = maxRefreshes
    self.window = window
    self.timeout = timeout
    self.scheduler = scheduler
    self.refresh = refresh
  }

  /// Returns the current token; the first call loads it from the store.
  func current() throws -> Held {
    let (isLoaded, known) = state.withLock { ($0.isLoaded, $0.held) }
    if isLoaded { return known }
    // Outside the lock, because a store may be custom code. If two threads load concurrently, the first result counts.
    let loaded = try store.load()
    return state.withLock { state in
      if !state.isLoaded {
        state.held.token = loaded
        state.held.renewal = renewal(ofStored: loaded)
        state.stored = loaded
        state.isLoaded = true
      }
      return state.held
    }
  }

  func replace(with token: Token?, isSameUser: Bool) throws {
    state.withLock { state in
      state.put(token, renewal: renewal(ofNew: token))
      if !isSameUser { state.held.generation += 1 }
      state.isLoaded = true
      state.failures = []
      // Discard the refresh. Requests that wait for it get this token.
      state.refresh = nil
    }
    try save()
  }

  /// Records that the server has rejected a new token.
  func noteRefusal(of fresh: Held) {
    let now = scheduler.now
    state.withLock { state in
      guard state.held.token == fresh.token, !state.isRefused else { return }
      state.isRefused = true
      state.failures.append(now)
    }
  }

  /// Returns the time to replace a new token: before its expiry by the duration of a request, but not before half of
  /// its lifetime. A token that expired in transit only shows that the clocks differ.
  private func renewal(ofNew token: Token?) -> Date? {
    guard let expiry = token?.expiry else { return nil }
    let left = expiry.timeIntervalSince(scheduler.now)
    return left > 0 ? expiry.addingTimeInterval(-min(leeway, left / 2)) : nil
  }

  /// Returns the time to replace a token of unknown age.
  private func renewal(ofStored token: Token?) -> Date? { token?.expiry?.addingTimeInterval(-leeway) }

  /// Saves until the saved token is the current one, because two concurrent saves must not leave the older one in the
  /// store.
  private func save() throws {
    while true {
      let (token, version) = state.withLock { ($0.held.token, $0.version) }
      try store.save(token)
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

  /// Returns a token that differs from `old`: the current one, or that of the refresh, which starts if none is in
  /// progress. Returns `nil` if another user has signed in or out since, because a request of one user must not be
  /// retried as another.
  func replacement(of old: Held) -> Single<Held?> {
    let now = scheduler.now
    let step = state.withLock { state -> Step in
      if state.held.generation != old.generation, old.token != nil { return .use(nil) }
      if state.held.token != nil, state.held.token != old.token { return .use(state.held) }
      if let refresh = state.refresh { return .wait(refresh) }
      // Times in the future exist if the clock was set back.
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
        "the server still rejects the token after \(maxRefreshes) refreshes within \(Int(window)) s; "
        + "sign in again, or raise maxRefreshes"
      return .error(NetworkError(kind: .authentication, reason: reason))
    case .begin(let subject):
      let lock = SerialDisposable()
      // No cancellation ends the refresh, because the old token may be used up.
      _ = locked(lock).flatMap { [self] in renewed(old.token) }.timeout(timeout, scheduler: scheduler).subscribe(
        onSuccess: { [self] in finish(subject, .success($0), lock) },
        onError: { [self] in finish(subject, .failure($0), lock) })
      return Self.result(of: subject, for: old)
    }
  }

  private static func result(of subject: ReplaySubject<Held>, for old: Held) -> Single<Held?> {
    subject.asObservable().map { $0.generation == old.generation || old.token == nil ? $0 : nil }.asSingle()
  }

  /// The error while another process refreshes the same token.
  private struct Busy: Error {}

  /// Waits until no other process refreshes, then stores the acquired lock in `lock`.
  private func locked(_ lock: SerialDisposable) -> Single<Void> {
    let (store, scheduler) = (store, scheduler)
    return Single.deferred {
      do {
        guard let taken = try store.lockForRefresh() else { throw Busy() }
        lock.disposable = taken
      } catch let busy as Busy {
        throw busy
      } catch {
        // Without a lock, only concurrent refreshes conflict.
        Hooks.onUnhandledError(error, #fileID, #line)
      }
      return .just(())
    }
    .retryWhen { errors in
      errors.flatMap { _ in Observable<Int>.timer(.milliseconds(50), scheduler: scheduler) }
    }
  }

  private struct Renewed {
    var token: Token
    /// Whether another process has written the token to the store.
    var isStored = false
  }

  /// Returns the token that another process has stored meanwhile, or else the result of the refresh.
  private func renewed(_ old: Token?) -> Single<Renewed> {
    let known = state.withLock { $0.stored }
    // An unreadable store has no new token.
    guard let found = try? store.load(), found != known, found != old else {
      return refresh(old).map { Renewed(token: $0) }
    }
    if found.expiry.map({ $0 > scheduler.now }) ?? true { return .just(Renewed(token: found, isStored: true)) }
    return refresh(found).map { Renewed(token: $0) }
  }

  private func finish(_ subject: ReplaySubject<Held>, _ result: Result<Renewed, any Error>, _ lock: SerialDisposable) {
    defer { lock.dispose() }
    let now = scheduler.now
    let (isCurrent, held) = state.withLock { state -> (Bool, Held) in
      guard state.refresh === subject else { return (false, state.held) }
      state.refresh = nil
      switch result {
      case .success(let new):
        state.put(new.token, renewal: new.isStored ? renewal(ofStored: new.token) : renewal(ofNew: new.token))
        if new.isStored { state.stored = new.token }
      case .failure(let error):
        if (error as? NetworkError)?.kind.isTransient != true { state.failures.append(now) }
      }
      return (true, state.held)
    }
    func emit() {
      subject.onNext(held)
      subject.onCompleted()
    }
    switch result {
    case .success(let new) where isCurrent:
      // A token that can't be saved is still valid for this run of the program.
      if !new.isStored { do { try save() } catch { Hooks.onUnhandledError(error, #fileID, #line) } }
      emit()
    case .failure(let error) where isCurrent:
      let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
      subject.onError(
        NetworkError(
          kind: .authentication, reason: reason, response: (error as? NetworkError)?.response, underlying: error))
    // A user has signed in or out meanwhile.
    case _ where held.token != nil: emit()
    default:
      subject.onError(NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed"))
    }
  }
}
