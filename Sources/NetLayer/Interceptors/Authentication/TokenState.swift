import PortableFoundation

/// The rules of the current token, its refresh and its store, without closures, files, locks and timers. `TokenRefresh` carries
/// out the actions.
///
/// The actions of one event are carried out in their order, and concurrently with those of other events. Where that matters, an
/// action follows only the end of the former one: one write at a time.
struct TokenState {
  /// A token and its owner: the generation changes at each sign-in or sign-out, and never repeats.
  struct Held: Sendable {
    var token: Token?
    var generation: Int
    /// The time to replace the token before the server rejects it; `nil` to wait for the rejection.
    var renewal: Date?

    /// The user of the token, which survives a refresh.
    var user: AccountState {
      guard let token else { return AccountState(.nobody, signIns: generation) }
      return AccountState(token.account.map { .named($0) } ?? .unnamed(token.access), signIns: generation)
    }
  }

  /// An integer names a caller who waits, or a refresh; 0 is the lock of sign-ins and sign-outs.
  enum Event {
    /// A caller needs the token; or another one, because this one expires soon or was rejected; or no longer waits.
    case need(Int), renew(Int, Held), leave(Int)
    /// A user signs in or out. The caller waits until the token is saved.
    case set(Token?, Int)
    /// The server has accepted or rejected a request with a new token.
    case accepted(Held), refused(Held)
    /// The result of the first look into the store, or of one after a write, and of one by a refresh.
    case loaded(Result<Token?, any Error>), read(Int, Result<Token?, any Error>)
    /// The result of an attempt to lock the store: `false` if another process has the lock.
    case locked(Int, Result<Bool, any Error>)
    case refreshed(Int, Result<Token, NetworkError>)
    /// The limit of a refresh or of a caller's wait has passed.
    case limit(Int)
    /// The end of a write.
    case written(Result<Void, any Error>)
  }

  enum Action {
    case load, read(Int)
    /// Locks the store, after a pause if another process had the lock.
    case lock(Int, isAgain: Bool), unlock(Int)
    case refresh(Int, Token?)
    /// Writes a token, or removes it.
    case write(Token?)
    case startLimit(Int), stopLimit(Int)
    /// Ends the wait of a caller with a token, or with `nil` because another user has signed in or out.
    case resume(Int, Held?), fail(Int, any Error)
    /// Ends the wait of a sign-in or sign-out.
    case end(Int, (any Error)?)
    /// The token has changed; a user has signed in or out, or the server has accepted a refreshed token.
    case noteChange, noteSignIn
    case report(any Error)
  }

  enum Knowledge { case unread, reading, known }

  struct Refresh {
    enum Step {
      case locking, reading
      /// The closure runs, with a token, and with what the store had; `nil` if the store was not read.
      case asking(Token?, seen: Token??)
      /// Looks into the store again, after the result of the closure.
      case rereading(Token?, seen: Token??, Result<Token, NetworkError>)
      /// Waits until this version is saved. The callers then receive the token, or the error.
      case saving(Int, NetworkError?)
    }

    /// The token to replace.
    let old: Token?
    var step = Step.locking
    /// Whether it holds the lock of the store.
    var isLocked = false
    var isLate = false

    /// Whether its own limit, and that of its callers, has begun.
    var hasBegun: Bool { if case .locking = step { false } else { true } }
    var isSaving: Bool { if case .saving = step { true } else { false } }
  }

  enum SaveLock: Equatable {
    case free, held, taking(attempts: Int)
    /// Another process holds the lock for too long, or a refresh of this process holds it.
    case done
  }

  let leeway: Double, maxRefreshes: Int, window: Double
  var session = Held(token: nil, generation: 0)
  /// The knowledge of the token, which the store has returned or a sign-in has set.
  var knowledge = Knowledge.unread
  /// Whether the time of the renewal is yet to be computed, because the token was set outside a call.
  var isNew = false
  /// The token that this process last read from the store or wrote to it, and its generation; `nil` until then.
  var stored: Token?
  var storedGeneration: Int?
  /// Whether the store has returned a token, so that a missing token is a sign-out in another process.
  var isReadable = false
  /// The number of changes, the one that the store has, and the one that is being written.
  var version = 0
  var written = 0
  var writing: (version: Int, held: Held, error: (any Error)?)?
  /// The refreshes, also those that were discarded but may still run.
  var refreshes: [Int: Refresh] = [:]
  /// The refresh whose result counts.
  var current: Int?
  /// Whether no request has been accepted with the token of the last refresh yet.
  var isUntried = false
  /// Whether `failures` includes the rejection of the current token.
  var isRefused = false
  /// The unsuccessful refreshes within the window; `nil` if the server has rejected the user or the new token.
  var failures: [(date: Date, outage: NetworkError?)] = []
  /// The callers who wait: the user for whom, if one was signed in, and the refresh; `nil` for the first look into the store.
  var waiters: [Int: (generation: Int?, refresh: Int?)] = [:]
  /// The sign-ins and sign-outs that are not yet saved, each with its version.
  var setters: [Int: Int] = [:]
  var saveLock = SaveLock.free
  /// The ended refreshes whose lock a sign-in or sign-out still needs.
  var owedLocks: [Int] = []
  var lastID = 0
  /// The actions of the event that is being handled.
  var actions: [Action] = []

  var user: AccountState { knowledge == .known ? session.user : AccountState(.unknown, signIns: session.generation) }

  mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  /// Returns the token if it is known, at the time `now` of its use.
  mutating func known(at now: Date) -> Held? {
    guard knowledge == .known else { return nil }
    if exchange(&isNew, with: false) {
      let renewal = session.token?.renewal(leeway)
      // A token with little time left may be short-lived.
      session.renewal = renewal.map { $0 > now } ?? false ? renewal : session.token?.renewal(leeway, ofNewAt: now)
    }
    return session
  }

  /// Changes the state, and returns the actions to carry out.
  mutating func handle(_ event: Event, at now: Date) -> [Action] {
    switch event {
    case .need(let id): need(id)
    case .renew(let id, let old): renew(id, old, now)
    case .leave(let id): if waiters.removeValue(forKey: id) != nil { actions.append(.stopLimit(id)) }
    case .set(let token, let id): set(token, id)
    case .accepted(let held):
      guard isUntried, session.token == held.token else { break }
      isUntried = false
      actions.append(.noteSignIn)
    case .refused(let held):
      guard session.token == held.token, !isRefused else { break }
      isRefused = true
      failures.append((now, nil))
    case .loaded(let result): loaded(result)
    case .locked(0, let result): saveLocked(result)
    case .locked(let id, let result): locked(id, result)
    case .read(let id, let result): read(id, result, now)
    case .refreshed(let id, let result): refreshed(id, result, now)
    case .limit(let id): limit(id, now)
    case .written(.success): endWrite(nil)
    case .written(.failure(let error)): endWrite(error)
    }
    return exchange(&actions, with: [])
  }

  private mutating func need(_ id: Int) {
    guard knowledge != .known else { return actions.append(.resume(id, session)) }
    waiters[id] = (nil, nil)
    guard knowledge == .unread else { return }
    knowledge = .reading
    actions.append(.load)
  }

  private mutating func loaded(_ result: Result<Token?, any Error>) {
    if case .success(.some) = result { isReadable = true }
    // A user may have signed in meanwhile. The store has the former one, unless that sign-in is saved.
    guard knowledge != .known else {
      if storedGeneration == nil, case .success(let found) = result { stored = found }
      return
    }
    let callers = takeCallers(of: nil)
    switch result {
    case .success(let token):
      knowledge = .known
      (session.token, session.renewal) = (token, token?.renewal(leeway))
      (stored, storedGeneration) = (token, session.generation)
      for (id, _) in callers { actions.append(.resume(id, session)) }
    case .failure(let error):
      knowledge = .unread
      for (id, _) in callers { actions.append(.fail(id, error)) }
    }
  }

  private mutating func set(_ token: Token?, _ id: Int) {
    let isOther = token?.isKnownToBelong(toOwnerOf: session.token) != true
    put(token, renewal: nil, isOther: isOther)
    if !isOther { actions.append(.noteSignIn) }
    (isNew, knowledge, failures) = (true, .known, [])
    setters[id] = version
    // What waits for a store that does not respond has its token now.
    for (id, _) in takeCallers(of: nil) { actions.append(.resume(id, session)) }
    discard()
    prepareToSave()
    write()
  }

  /// Replaces the token. Another user has another generation.
  mutating func put(_ token: Token?, renewal: Date?, isOther: Bool) {
    if isOther { session.generation += 1 }
    (session.token, session.renewal) = (token, renewal)
    version += 1
    (isNew, isRefused, isUntried) = (false, false, false)
    actions.append(.noteChange)
    if isOther { actions.append(.noteSignIn) }
  }

  /// Removes the callers who wait for a refresh, or for the first look, and returns them in their order.
  mutating func takeCallers(of refresh: Int?) -> [(Int, generation: Int?)] {
    let callers = waiters.filter { $0.value.refresh == refresh }.sorted { $0.key < $1.key }
    for (id, _) in callers { waiters[id] = nil }
    if refresh != nil { actions += callers.map { .stopLimit($0.key) } }
    return callers.map { ($0.key, $0.value.generation) }
  }
}
