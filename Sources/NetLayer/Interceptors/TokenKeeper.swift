import Foundation
import Streams

/// Has the token in force and replaces it, once at a time.
final class TokenKeeper: Sendable {
  /// A token, and whose it is: the number changes when somebody signs in or out.
  struct Held: Sendable {
    var token: Token?
    var generation: Int
  }

  private struct State {
    var held = Held(token: nil, generation: 0)
    var isLoaded = false
    /// Counts every change, so that the store ends with the last.
    var version = 0
    /// The refresh under way.
    var refresh: ReplaySubject<Held>?
    /// When the refreshes of the window began.
    var begun: [Date] = []
  }

  let scheduler: any SchedulerType
  private let store: any TokenStore
  private let maxRefreshes: Int
  private let window: Double
  private let refresh: @Sendable (Token?) -> Single<Token>
  private let state = Locked(State())

  init(
    _ store: any TokenStore, maxRefreshes: Int, window: Double, scheduler: any SchedulerType,
    refresh: @escaping @Sendable (Token?) -> Single<Token>
  ) {
    self.store = store
    self.maxRefreshes = maxRefreshes
    self.window = window
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
        state.isLoaded = true
      }
      return state.held
    }
  }

  func replace(with token: Token?) throws {
    state.withLock { state in
      state.held = Held(token: token, generation: state.held.generation + 1)
      state.isLoaded = true
      state.version += 1
      state.begun = []
      // It is of no account any more; those who wait for it get this token.
      state.refresh = nil
    }
    try save()
  }

  /// Saves until what was saved is what is in force: two that save at once must not leave the older one behind.
  private func save() throws {
    while true {
      let (token, version) = state.withLock { ($0.held.token, $0.version) }
      try store.save(token)
      if state.withLock({ $0.version == version }) { return }
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
      state.begun.removeAll { now.timeIntervalSince($0) >= window || $0 > now }
      guard state.begun.count < maxRefreshes else { return .refuse }
      state.begun.append(now)
      let subject = ReplaySubject<Held>.create(bufferSize: 1)
      state.refresh = subject
      return .begin(subject)
    }
    switch step {
    case .use(let held): return .just(held)
    case .wait(let subject): return Self.result(of: subject, for: old)
    case .refuse:
      let reason =
        "the server refuses the token, and \(maxRefreshes) new ones within \(Int(window)) s were of no help; "
        + "sign in again, or allow more with maxRefreshes"
      return .error(NetworkError(kind: .authentication, reason: reason))
    case .begin(let subject):
      // Nobody's cancellation ends it: the old token may be used up.
      _ = refresh(old.token).subscribe(
        onSuccess: { self.finish(subject, .success($0)) }, onError: { self.finish(subject, .failure($0)) })
      return Self.result(of: subject, for: old)
    }
  }

  private static func result(of subject: ReplaySubject<Held>, for old: Held) -> Single<Held?> {
    subject.asObservable().map { $0.generation == old.generation || old.token == nil ? $0 : nil }.asSingle()
  }

  private func finish(_ subject: ReplaySubject<Held>, _ result: Result<Token, any Error>) {
    let (isCurrent, held) = state.withLock { state -> (Bool, Held) in
      guard state.refresh === subject else { return (false, state.held) }
      state.refresh = nil
      if case .success(let token) = result {
        state.held.token = token
        state.version += 1
      }
      return (true, state.held)
    }
    func emit() {
      subject.onNext(held)
      subject.onCompleted()
    }
    switch result {
    case .success where isCurrent:
      // What can't be saved is good for this run of the program all the same.
      do { try save() } catch { Hooks.onUnhandledError(error, #fileID, #line) }
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
