import PortableFoundation
import Streams

/// An interceptor that adds a token to requests and refreshes it when the server rejects it.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(for: [shopURL], store: FileTokenStore(storingIn: file)) { old in
///   login.request(.post("/token", form: ["refresh_token": old?.refresh]), as: Grant.self).map(\.token)
/// }
/// ```
/// `Grant` is the app's model of the response. The closure receives `nil` if nobody is signed in.
///
/// A request with a 401 response is sent again with a new token, if its body can be sent again. Only one `refresh` runs
/// at a time, and all requests that need a token wait for it. It continues even if all of them are cancelled or have
/// timed out, because it may already have used up the old token. If the token was replaced after the request was sent,
/// the request is sent again without a refresh.
///
/// A refused refresh fails all waiting requests with an error of kind `authentication`, whose `underlying` error is the
/// cause. If the token server is down, the error keeps its kind: `connection`, `timeout`, or `status` with a temporary
/// status such as 503. Only an error with ``HTTPTransport/NetworkError/endsSession`` signs the user out.
///
/// Place it after a `RetryInterceptor`, so that each attempt uses the newest token. Place it before a
/// `LimitInterceptor`, so that a request that waits for a refresh does not count against the limits.
public final class AuthenticationInterceptor: Interceptor, RecordsCredentials {
  /// A function that returns a new token to replace the old token, which is `nil` if there is none yet.
  ///
  /// Requests that the closure starts while it is called and subscribed are not intercepted. Requests that it starts
  /// later, in a `flatMap` or on another thread, must use a network without this interceptor. Otherwise they wait for
  /// their own result until `timeout`.
  public typealias Refresh = @Sendable (Token?) throws -> Single<Token>

  private let origins: Set<Origin>
  private let apply: @Sendable (Token, inout Request) -> Void
  private let isRejected: @Sendable (Response) -> Bool
  private let requiresToken: Bool
  private let tokens: TokenRefresh

  /// Creates an interceptor that uses the token in the store.
  ///
  /// - Parameters:
  ///   - origins: The URLs whose scheme, host and port receive the token. It is sent to no other origin, not even after
  ///     a redirect, and not to a URL that a server of another origin has chosen.
  ///   - store: The store of the token.
  ///   - leeway: The time before its expiry at which a token is replaced, 30 s by default; a shorter-lived token is
  ///     replaced after half of its lifetime. A new token that has already expired by the local clock is used until the
  ///     server rejects it.
  ///   - maxRefreshes: The maximum number of unsuccessful refreshes within `window`, by default 5 in 60 s. A refresh
  ///     counts if it fails for any reason except a missing connection or a time limit, or if the server rejects its
  ///     token.
  ///   - window: The time window of `maxRefreshes`.
  ///   - timeout: The time for which a request waits for a refresh, and before that, a refresh for another process that
  ///     refreshes the same token; a minute by default. A refresh that takes longer is not ended.
  ///   - apply: A closure that adds the token to a request, by default as `Authorization: Bearer` (RFC 6750 §2.1). A
  ///     request that already has an `Authorization` is not changed.
  ///   - isRejected: A closure that returns whether the server has rejected the token, by default with status 401. It
  ///     is called on the `mapping` scheduler. The body of a streamed response is empty.
  ///   - requiresToken: Whether a request waits for a first token, instead of being sent without one. Pass `true` for a
  ///     client that needs no user to get a token, such as a service with client credentials (RFC 6749 §4.4).
  ///   - refresh: A closure that returns a new token.
  public init(
    for origins: [URL], store: any TokenStore = MemoryTokenStore(), leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5, window: Duration = .seconds(60), timeout: Duration = .seconds(60),
    apply: @escaping @Sendable (Token, inout Request) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" },
    isRejected: @escaping @Sendable (Response) -> Bool = { $0.status == 401 }, requiresToken: Bool = false,
    refresh: @escaping Refresh
  ) {
    self.origins = Set(origins.map(Origin.init))
    self.apply = apply
    self.isRejected = isRejected
    self.requiresToken = requiresToken
    tokens = TokenRefresh(
      store, leeway: leeway / .seconds(1), maxRefreshes: maxRefreshes, window: window / .seconds(1), timeout: timeout
    ) { old in
      // Only requests that start in this scope belong to the refresh.
      Single.create { observer in
        let ended: @Sendable (SingleEvent<Token>) -> Void = { event in
          IsPartOfRefresh.$isRefreshing.withValue(false) { observer(event) }
        }
        return IsPartOfRefresh.$isRefreshing.withValue(true) {
          Single.deferred { try refresh(old) }.subscribe(ended)
        }
      }
    }
  }

  /// Creates an interceptor with an `async` refresh function. The parameters are the same as in the overload with
  /// streams. None of the requests that the function sends are intercepted.
  public convenience init(
    for origins: [URL], store: any TokenStore = MemoryTokenStore(), leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5, window: Duration = .seconds(60), timeout: Duration = .seconds(60),
    apply: @escaping @Sendable (Token, inout Request) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" },
    isRejected: @escaping @Sendable (Response) -> Bool = { $0.status == 401 }, requiresToken: Bool = false,
    refresh: @escaping @Sendable (Token?) async throws -> Token
  ) {
    self.init(
      for: origins, store: store, leeway: leeway, maxRefreshes: maxRefreshes, window: window, timeout: timeout,
      apply: apply, isRejected: isRejected, requiresToken: requiresToken
    ) { old in
      Single.from { try await IsPartOfRefresh.$isRefreshing.withValue(true) { try await refresh(old) } }
    }
  }

  /// The current token; `nil` if no user is signed in.
  ///
  /// - Throws: The error of the store, which is read before the first request.
  public var token: Token? { get async throws { try await tokens.current.value.token } }

  /// The user of the token, emitted when the store has been read, and again after each sign-in and sign-out.
  ///
  /// It is emitted on the thread of the change. A refresh that keeps the account changes nothing. It fails if the store can't be read.
  public var accountStates: Observable<AccountState> { tokens.accountStates }

  /// The user of the token: ``Token/account``, or else a user without a name.
  public var accountState: AccountState { tokens.accountState }

  /// A signal after each sign-in and sign-out, and after each refreshed token that the server has accepted, on the thread of
  /// the change.
  public var accountChanges: Observable<Void>? { tokens.signedIn.asObservable() }

  /// Reads the store, unless it has been read.
  public func loadAccount() async throws { _ = try await tokens.current.value }

  /// Replaces the token after a sign-in, or with `nil` after a sign-out, then saves it. An in-flight refresh is discarded.
  ///
  /// Calls that began with the former token continue only if both tokens name the same ``Token/account``. A request in
  /// flight ends with its response, and a call that waits for a retry or a network fails with kind `authentication`.
  ///
  /// While another process refreshes the token, this waits for the end of that refresh, at most 5 s, before it saves.
  /// When it returns, no older token is being saved.
  ///
  /// - Throws: The error of the store. The interceptor uses the new token anyway. If the token in the store may belong to
  ///   another user, it is removed, so that the next run does not start as that user.
  public func setToken(_ token: Token?) async throws { try await tokens.replace(with: token) }

  /// Records whether the request belongs to a refresh. Begins to read the store, so that a key has the token if the
  /// store waits for nothing.
  public func captureContext(into request: inout Request) {
    request.markRefresh()
    if !tokens.isLoaded, covers(request) { _ = tokens.load().subscribe(onError: { _ in }) }
  }

  /// Sends `request` with the token, and again with a new token if the status is 401.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard covers(request) else { return next(request) }
    return Observable.deferred { [self] in
      if let held = tokens.known(at: next.clock.now) { return try responses(to: request, held, next) }
      return tokens.current.asObservable().flatMap { [self] in try responses(to: request, $0, next) }
    }
  }

  private func responses(
    to request: Request, _ held: TokenRefresh.Held, _ next: InterceptorChain
  ) throws -> Observable<Response> {
    if hasClosedSocket(with: held.token, request) {
      return replacement(of: held, request, nil, next.clock).flatMap { [self] in sent(request, with: $0 ?? held, next) }
    }
    let now = next.clock.now
    let isDue = held.renewal.map { $0 <= now } ?? false
    let isMissing = requiresToken && held.token == nil
    guard isDue || isMissing else { return sent(request, with: held, next) }
    // No refresh on behalf of a user who has signed out.
    if let failure = next.network.logins.signOut(of: request) { throw failure }
    let fresh = replacement(of: held, request, nil, next.clock)
    // A failed refresh is not an error as long as the old token is valid.
    let isGood = held.token?.expiresAt.map { $0 > now } ?? false
    let usable =
      !isGood
      ? fresh
      : fresh.catchError { [self] error in
        tokens.known?.generation == held.generation ? .just(held) : .error(error)
      }
    return usable.flatMap { [self] fresh in
      // Another user has signed in during the refresh.
      guard let fresh else { throw CallAccounts.signedOut(request) }
      return sent(request, with: fresh, next).do(onNext: { [self] response in
        if !isRejected(response) { tokens.noteAcceptance(of: fresh) }
      })
    }
  }

  /// Returns whether the token is sent with `request`. A URL that a server has chosen starts no refresh either.
  public func covers(_ request: Request) -> Bool {
    !request.context[IsPartOfRefresh.self] && isFor(request.url) && !request.isForeign
      && request.headers.values(of: "Authorization").isEmpty
  }

  private func isFor(_ url: URL) -> Bool { origins.contains { $0.contains(url) } }

  /// Returns whether the server has closed the previous socket of a session because it has rejected `token`.
  private func hasClosedSocket(with token: Token?, _ request: Request) -> Bool {
    guard let closed = request.context[ClosedSocket.self], isRejected(closed), closed.concernsUser(of: request) else {
      return false
    }
    return token.map { closed.request.credentials.map(\.headers).contains(fields(of: $0, request)) } ?? false
  }

  private func sent(_ request: Request, with held: TokenRefresh.Held, _ next: InterceptorChain) -> Observable<Response>
  {
    guard isOfCall(held, request) else { return .error(CallAccounts.signedOut(request)) }
    return next(carrying(held.token, request)).flatMap { [self] response -> Observable<Response> in
      // Behind another origin, a request does not carry the token, even if a redirect returns.
      guard isRejected(response), request.body.isRepeatable, response.concernsUser(of: request) else {
        return .just(response)
      }
      return replacement(of: held, request, response, next.clock).flatMap { [self] fresh -> Observable<Response> in
        guard let fresh else { return .just(response) }
        guard isOfCall(fresh, request) else { return .error(CallAccounts.signedOut(request)) }
        return next(carrying(fresh.token, request)).map { [self] again in
          guard again.concernsUser(of: request) else { return again }
          guard isRejected(again) else {
            tokens.noteAcceptance(of: fresh)
            return again
          }
          tokens.noteRefusal(of: fresh, at: next.clock.now)
          var refusal = again
          refusal.context[Refusal.self] = { [self] in fresh.token == tokens.known?.token }
          return refusal
        }
      }
    }
  }

  private func replacement(
    of held: TokenRefresh.Held, _ request: Request, _ response: Response?, _ clock: any SchedulerType
  ) -> Observable<TokenRefresh.Held?> {
    tokens.replacement(of: held, clock).asObservable().mapError { error in
      var known = NetworkError.wrapping(error)
      known.request = request
      known.response = known.response ?? response
      return known
    }
  }

  /// Returns whether the server has rejected the token of a request.
  public func rejects(_ response: Response) -> Bool { isFor(response.url) && isRejected(response) }

  /// Returns whether `request` may carry the token, which was read together with its user.
  private func isOfCall(_ held: TokenRefresh.Held, _ request: Request) -> Bool {
    guard let call = request.context[CallAccounts.self] else { return true }
    return call.began(in: held.generation, of: self) || call.accepts(held.user, of: self)
  }

  private func carrying(_ token: Token?, _ request: Request) -> Request {
    guard let token else { return request }
    var copy = request
    apply(token, &copy)
    let former = request.headers
    let added = HTTPHeaders(copy.headers.filter { !former.contains($0) })
    copy.credentials.append(Request.Credentials(account: token.owner, headers: added))
    return copy
  }

  private func fields(of token: Token, _ request: Request) -> HTTPHeaders {
    carrying(token, request).credentials.last?.headers ?? [:]
  }
}
