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

    /// The user of the token, who was read together with it.
    var user: AccountState {
      guard let token else { return AccountState(.nobody, signIns: generation) }
      return AccountState(token.account.map { .named($0) } ?? .unnamed(token.access), signIns: generation)
    }
  }

  /// An unsuccessful refresh.
  struct Failure {
    let date: Date
    /// The error of a token server that is down; `nil` if the server has rejected the user or the new token.
    var outage: NetworkError?
  }

  struct State {
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
    /// The generation of `stored`; `nil` until the store has been read or written.
    var storedGeneration: Int?
    /// The number of changes, and the one that the store has.
    var version = 0
    var savedVersion = 0
    /// Whether a token is being saved, and the saves that wait for their turn.
    var isSaving = false
    var savers: [CheckedContinuation<Void, Never>] = []
    /// Whether no request has been accepted with the token of the last refresh yet.
    var isUntried = false
    /// The refresh in progress.
    var refresh: Refreshing?
    /// The refresh that holds the lock of the store; also one that was discarded meanwhile.
    var lockHolder: Refreshing?
    /// The number of replacements that are not yet in the store.
    var replacements = 0
    /// The unsuccessful refreshes within the window.
    var failures: [Failure] = []
    /// Whether `failures` includes the rejection of the current token.
    var isRefused = false

    mutating func put(_ token: Token?, renewal: Date?) {
      held.token = token
      held.renewal = renewal
      isNew = false
      version += 1
      isRefused = false
      isUntried = false
    }
  }

  /// A refresh in progress and its result. No cancellation or time limit ends it, because the old token may be used up.
  final class Refreshing: Sendable {
    /// Emits when the refresh begins to run, or ends before that.
    let begun = ReplaySubject<Void>.create(bufferSize: 1)
    /// The token that it replaces.
    let old: Token?
    let result = ReplaySubject<Held>.create(bufferSize: 1)
    /// The lock of the store, and the timer of the limit.
    let lock = SerialDisposable()
    let timer = SerialDisposable()
    /// Raised after the limit.
    let isLate = Flag()

    init(_ old: Token?) { self.old = old }

    func end(_ error: any Error) {
      begun.onNext(())
      result.onError(error)
    }

    /// Ends the wait with the current token.
    func end(with held: Held) {
      guard held.token != nil else {
        var signedOut = NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed")
        signedOut.isOfUnfinishedRefresh = true
        return end(signedOut)
      }
      begun.onNext(())
      result.onNext(held)
      result.onCompleted()
    }
  }

  let store: any TokenStore
  private let leeway: Double
  private let maxRefreshes: Int
  private let window: Double
  let timeout: Duration
  let refresh: @Sendable (Token?) -> Single<Token>
  /// Guards the state, which subscribers, the end of a refresh and `setToken` access. The store is used and waiting
  /// requests are resumed outside the lock.
  let state = Locked(State())
  /// Signals each change of the token.
  let changed = PublishSubject<Void>()
  /// Signals each sign-in and sign-out, and each refreshed token with which the server has accepted a request. A token that
  /// the server rejects, too, does not end a wait.
  let signedIn = PublishSubject<Void>()

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
    // Inside the lock, because a token that is copied takes longer than the rest.
    state.withLock { $0.isLoaded ? $0.held.user : AccountState(.unknown, signIns: $0.held.generation) }
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
            // A user may have signed in meanwhile. The store has the former one, unless that sign-in is saved.
            guard !state.isLoaded else {
              if state.storedGeneration == nil { state.stored = loaded }
              if loaded != nil { state.isReadable = true }
              return
            }
            state.held.token = loaded
            state.held.renewal = renewal(ofStored: loaded)
            (state.stored, state.storedGeneration) = (loaded, state.held.generation)
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
    let (waiting, held, load) = state.withLock { state in
      if token?.isKnownToBelong(toOwnerOf: state.held.token) != true { state.held.generation += 1 }
      state.put(token, renewal: nil)
      state.isNew = true
      state.isLoaded = true
      state.failures = []
      state.replacements += 1
      // Discard the refresh. Requests that wait for it get this token.
      return (state.refresh.take(), state.held, state.load.take())
    }
    defer { state.withLock { $0.replacements -= 1 } }
    changed.onNext(())
    signedIn.onNext(())
    // What waits for a store that does not respond has its token now.
    load?.onNext(())
    if let waiting { waiting.end(with: held) }
    if let waiting, waiting.isLate.isRaised { release(waiting) }
    // Otherwise a refresh in another process could read the store before this token is saved, and save its own after it.
    let holdsLock = state.withLock { $0.lockHolder != nil }
    let lock = holdsLock ? nil : await lockForSave()
    defer { lock?.dispose() }
    try await save()
  }

  /// Records that the server has accepted a request with a new token.
  func noteAcceptance(of fresh: Held) {
    let isFirst = state.withLock { state in
      guard state.isUntried, state.held.token == fresh.token else { return false }
      state.isUntried = false
      return true
    }
    if isFirst { signedIn.onNext(()) }
  }

  /// Records that the server has rejected a new token.
  func noteRefusal(of fresh: Held, at now: Date) {
    state.withLock { state in
      guard state.held.token == fresh.token, !state.isRefused else { return }
      state.isRefused = true
      state.failures.append(Failure(date: now))
    }
  }

  /// Returns the time to replace a new token: one request's duration before its expiry, but not before half of its
  /// lifetime. A token that expired in transit only shows that the clocks differ.
  func renewal(ofNew token: Token?, _ now: Date) -> Date? {
    guard let expiresAt = token?.expiresAt else { return nil }
    let left = expiresAt.timeIntervalSince(now)
    return left > 0 ? expiresAt.addingTimeInterval(-min(leeway, left / 2)) : nil
  }

  /// Returns the time to replace a token of unknown age.
  func renewal(ofStored token: Token?) -> Date? { token?.expiresAt?.addingTimeInterval(-leeway) }

  private enum Step {
    case use(Held?)
    case wait(Refreshing)
    case begin(Refreshing)
    case refuse(NetworkError?)
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
      state.failures.removeAll { now.timeIntervalSince($0.date) >= window || $0.date > now }
      guard state.failures.count < maxRefreshes else {
        let outage = state.failures.last?.outage
        return .refuse(state.failures.allSatisfy { $0.outage != nil } ? outage : nil)
      }
      let refresh = Refreshing(old.token)
      state.refresh = refresh
      return .begin(refresh)
    }
    switch step {
    case .use(let held): return .just(held)
    case .wait(let refresh): return result(of: refresh, for: old, clock)
    case .refuse(let outage): return .error(refusal(after: outage))
    case .begin(let refresh):
      _ = locked(refresh, clock).timeout(timeout, scheduler: clock)
        .flatMap { [self] in renewed(old.token, clock) }
        .subscribe(
          onSuccess: { [self] in finish(refresh, .success($0), clock.now) },
          onError: { [self] in finish(refresh, .failure($0), clock.now) })
      return result(of: refresh, for: old, clock)
    }
  }

  /// Emits the result of `refresh`, or fails if it runs for longer than the limit.
  private func result(of refresh: Refreshing, for old: Held, _ clock: any SchedulerType) -> Single<Held?> {
    refresh.begun.take(1).flatMap { [timeout] _ in refresh.result.timeout(timeout, scheduler: clock) }
      .mapError { $0 is NetworkError ? $0 : Self.failure($0) }
      .map { $0.generation == old.generation || old.token == nil ? $0 : nil }.asSingle()
  }

  /// Returns the error of a call whose token was not refreshed, because the last refreshes were unsuccessful.
  ///
  /// - Parameter outage: The error of the last one, if all of them met a token server that was down.
  private func refusal(after outage: NetworkError?) -> NetworkError {
    let limit = "\(maxRefreshes) refreshes within \(Duration(clampingSeconds: window).text)"
    let reason =
      outage.map { "\($0.reason); not refreshed again after \(limit)" }
      ?? "the server still rejects the token after \(limit); sign in again, or raise maxRefreshes"
    var error = outage ?? NetworkError(kind: .authentication, reason: reason)
    error.reason = reason
    error.isOfUnfinishedRefresh = true
    return error
  }

  /// Returns the error of the calls that wait for a refresh. An outage of the token server keeps its kind, because it says
  /// nothing about the user.
  static func failure(_ error: any Error) -> NetworkError {
    let isLate = (error as? StreamError) == .timeout
    let cause = isLate ? NetworkError(kind: .timeout, reason: "\(error)") : .wrapping(error)
    let status = cause.response?.status ?? cause.code
    let isPassing = cause.kind == .status && Response.isPassing(status)
    let isDown = cause.kind.isOutage || isPassing
    let isOutage = isDown && !cause.endsSession
    let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
    var failure = NetworkError(
      kind: isOutage ? cause.kind : .authentication, code: isOutage && cause.kind == .status ? status : nil,
      message: cause.words, reason: reason, response: cause.response, underlying: error)
    failure.isOfUnfinishedRefresh = isOutage
    failure.endsSession = cause.endsSession
    return failure
  }
}
