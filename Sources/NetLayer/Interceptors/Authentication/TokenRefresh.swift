import PortableFoundation
import Streams

/// Has the token in force and replaces it, once at a time.
final class TokenRefresh: Sendable {
  /// A token, and whose it is: the number changes when somebody signs in or out.
  struct Held: Sendable {
    var token: Token?
    var generation: Int
    /// When to replace it before the server refuses it; `nil` where only that says so.
    var renewal: Date?
  }

  private struct State {
    var held = Held(token: nil, generation: 0)
    var isLoaded = false
    /// What this process has last seen in the store, or put there.
    var stored: Token?
    /// Counts every change, so that the store ends with the last.
    var version = 0
    /// The refresh under way.
    var refresh: ReplaySubject<Held>?
    /// When refreshes of the window were of no help.
    var failures: [Date] = []
    /// Whether the token in force is among them.
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
  /// Subscribers, the refresh's end and `setToken`; the store is asked, and those who wait are told, after.
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

  /// The token in force, from the store at the first time.
  func current() throws -> Held {
    let (isLoaded, known) = state.withLock { ($0.isLoaded, $0.held) }
    if isLoaded { return known }
    // Outside the lock, as a store may be anyone's; if two load at once, the first counts.
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
      // It is of no account any more; those who wait for it get this token.
      state.refresh = nil
    }
    try save()
  }

  /// Notes that the server has refused a token that it had just given.
  func noteRefusal(of fresh: Held) {
    let now = scheduler.now
    state.withLock { state in
      guard state.held.token == fresh.token, !state.isRefused else { return }
      state.isRefused = true
      state.failures.append(now)
    }
  }

  /// When to replace a token that was just got: before it expires by as much as requests may take, but not before half of
  /// its time. One that has expired on its way shows that the clocks differ, and nothing of when it really will.
  private func renewal(ofNew token: Token?) -> Date? {
    guard let expiry = token?.expiry else { return nil }
    let left = expiry.timeIntervalSince(scheduler.now)
    return left > 0 ? expiry.addingTimeInterval(-min(leeway, left / 2)) : nil
  }

  /// The same for one that was got at an unknown time.
  private func renewal(ofStored token: Token?) -> Date? { token?.expiry?.addingTimeInterval(-leeway) }

  /// Saves until what was saved is what is in force: two that save at once must not leave the older one behind.
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

  /// Another token than that of `old`: the one in force if it is another, else that of the refresh, which this begins if
  /// there is none under way. `nil` when somebody else has signed in or out since: what was asked as one must not be
  /// repeated as another.
  func replacement(of old: Held) -> Single<Held?> {
    let now = scheduler.now
    let step = state.withLock { state -> Step in
      if state.held.generation != old.generation, old.token != nil { return .use(nil) }
      if state.held.token != nil, state.held.token != old.token { return .use(state.held) }
      if let refresh = state.refresh { return .wait(refresh) }
      // Those of the future are there when the clock was set back.
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
        "the server refuses the token, and \(maxRefreshes) refreshes within \(Int(window)) s were of no help; "
        + "sign in again, or allow more with maxRefreshes"
      return .error(NetworkError(kind: .authentication, reason: reason))
    case .begin(let subject):
      let lock = SerialDisposable()
      // Nobody's cancellation ends it: the old token may be used up.
      _ = locked(lock).flatMap { [self] in renewed(old.token) }.timeout(timeout, scheduler: scheduler).subscribe(
        onSuccess: { [self] in finish(subject, .success($0), lock) },
        onError: { [self] in finish(subject, .failure($0), lock) })
      return Self.result(of: subject, for: old)
    }
  }

  private static func result(of subject: ReplaySubject<Held>, for old: Held) -> Single<Held?> {
    subject.asObservable().map { $0.generation == old.generation || old.token == nil ? $0 : nil }.asSingle()
  }

  /// Another process is refreshing the same token.
  private struct Busy: Error {}

  /// Waits until no other process refreshes, and puts what keeps the others waiting into `lock`.
  private func locked(_ lock: SerialDisposable) -> Single<Void> {
    let (store, scheduler) = (store, scheduler)
    return Single.deferred {
      do {
        guard let taken = try store.lockForRefresh() else { throw Busy() }
        lock.disposable = taken
      } catch let busy as Busy {
        throw busy
      } catch {
        // Without a lock, only those who refresh at the same moment collide.
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
    /// Whether another process has put it into the store.
    var isStored = false
  }

  /// What another process has put into the store meanwhile, else what the refresh gives.
  private func renewed(_ old: Token?) -> Single<Renewed> {
    let known = state.withLock { $0.stored }
    // A store that can't be read has nothing new to say.
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
      // What can't be saved is good for this run of the program all the same.
      if !new.isStored { do { try save() } catch { Hooks.onUnhandledError(error, #fileID, #line) } }
      emit()
    case .failure(let error) where isCurrent:
      let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
      subject.onError(
        NetworkError(
          kind: .authentication, reason: reason, response: (error as? NetworkError)?.response, underlying: error))
    // Somebody has signed in or out meanwhile.
    case _ where held.token != nil: emit()
    default:
      subject.onError(NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed"))
    }
  }
}
