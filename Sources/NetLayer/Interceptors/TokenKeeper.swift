import Foundation
import Streams

/// Has the token in force and replaces it, once at a time.
final class TokenKeeper: Sendable {
  private struct State {
    var token: Token?
    var isLoaded = false
    /// The refresh under way.
    var refresh: ReplaySubject<Token>?
    /// When the refreshes of the window began.
    var begun: [Date] = []
    /// Counts what was set from outside, so that a refresh that began before is of no account.
    var generation = 0
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
  func current() throws -> Token? {
    let (isLoaded, known) = state.withLock { ($0.isLoaded, $0.token) }
    if isLoaded { return known }
    // Outside the lock, as a store may be anyone's; if two load at once, the first counts.
    let loaded = try store.load()
    return state.withLock { state in
      if !state.isLoaded {
        state.token = loaded
        state.isLoaded = true
      }
      return state.token
    }
  }

  func replace(with token: Token?) throws {
    state.withLock { state in
      state.token = token
      state.isLoaded = true
      state.generation += 1
      state.begun = []
    }
    try store.save(token)
  }

  private enum Step {
    case use(Token)
    case wait(ReplaySubject<Token>)
    case begin(ReplaySubject<Token>, generation: Int)
    case refuse
  }

  /// Another token than `old`: the one in force if it is another, else that of the refresh, which this begins if there is
  /// none under way.
  func token(inPlaceOf old: Token?) -> Single<Token> {
    let now = scheduler.now
    let step = state.withLock { state -> Step in
      if let token = state.token, token != old { return .use(token) }
      if let refresh = state.refresh { return .wait(refresh) }
      state.begun.removeAll { now.timeIntervalSince($0) >= window }
      guard state.begun.count < maxRefreshes else { return .refuse }
      state.begun.append(now)
      let subject = ReplaySubject<Token>.create(bufferSize: 1)
      state.refresh = subject
      return .begin(subject, generation: state.generation)
    }
    switch step {
    case .use(let token): return .just(token)
    case .wait(let subject): return subject.asObservable().asSingle()
    case .refuse:
      let reason =
        "the server refuses the token, and \(maxRefreshes) new ones within \(Int(window)) s were of no help; "
        + "sign in again, or allow more with maxRefreshes"
      return .error(NetworkError(kind: .authentication, reason: reason))
    case .begin(let subject, let generation):
      // Nobody's cancellation ends it: the old token may be used up.
      _ = refresh(old).subscribe(
        onSuccess: { self.finish(subject, generation, .success($0)) },
        onError: { self.finish(subject, generation, .failure($0)) })
      return subject.asObservable().asSingle()
    }
  }

  private func finish(_ subject: ReplaySubject<Token>, _ generation: Int, _ result: Result<Token, any Error>) {
    let isCurrent = state.withLock { state in
      state.refresh = nil
      guard state.generation == generation else { return false }
      if case .success(let token) = result { state.token = token }
      return true
    }
    switch result {
    case .success(let token) where isCurrent:
      // What can't be saved is good for this run of the program all the same.
      do { try store.save(token) } catch { Hooks.onUnhandledError(error, #fileID, #line) }
      subject.onNext(token)
      subject.onCompleted()
    case .success:
      // Somebody has signed in or out meanwhile.
      if let token = state.withLock({ $0.token }) {
        subject.onNext(token)
        subject.onCompleted()
      } else {
        subject.onError(NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed"))
      }
    case .failure(let error):
      let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
      subject.onError(
        NetworkError(
          kind: .authentication, reason: reason, response: (error as? NetworkError)?.response, underlying: error))
    }
  }
}
