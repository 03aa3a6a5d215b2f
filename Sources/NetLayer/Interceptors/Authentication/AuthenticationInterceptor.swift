import PortableFoundation
import Streams

/// Puts a token into requests and gets a new one when the server takes it no more (article weakness 0.14: there was no
/// way on after a token had expired).
///
/// ```swift
/// let authentication = AuthenticationInterceptor(for: [shopURL], store: FileTokenStore(file)) { old in
///   login.request(.post, "/token", parameters: ["refresh_token": old?.refresh], as: Token.self)
/// }
/// ```
/// A request whose answer is 401 is sent once more with a new token, if its body can be sent again. However many requests
/// need one, `refresh` runs once at a time: the others wait for it. Several processes may share a `FileTokenStore`: one
/// refreshes, and the others find its token in the store. One that was sent with a token that has been replaced meanwhile is repeated
/// without a refresh. A refresh that fails fails all that wait for it, with an error of kind `authentication` whose
/// `underlying` is the cause; the next 401 tries anew. A refresh goes on when those who wait are cancelled, as it
/// may have used up the old token already.
///
/// It belongs behind a `RetryInterceptor`, whose attempts then take the newest token, and in front of a
/// `LimitInterceptor`, so that no place is held while it waits for a refresh.
public final class AuthenticationInterceptor: Interceptor {
  /// Gets a new token in place of the old one, which is `nil` when there is none yet.
  ///
  /// The requests that it sends while it is being called and subscribed are not intercepted. Those that it sends
  /// later, in a `flatMap` or on another thread, must go through a network without this interceptor, else they wait for themselves until
  /// `timeout`.
  public typealias Refresh = @Sendable (Token?) throws -> Single<Token>

  private let origins: Set<Origin>
  private let apply: @Sendable (Token, inout Request) -> Void
  private let tokens: TokenRefresh
  /// Whether a refresh is being begun on this thread.
  @TaskLocal static var isRefreshing = false

  /// An interceptor with what the store has.
  ///
  /// - Parameters:
  ///   - origins: the URLs whose scheme, host and port get the token; others never do, also not by redirect.
  ///   - store: where the token is kept.
  ///   - leeway: how many seconds before its expiry a token is replaced, 30 by default, as requests are under way for a
  ///     while; half of the time that it is good for, where that is less. A new token that has expired by this
  ///     machine's clock shows that the clocks differ: it is used until the server refuses it.
  ///   - maxRefreshes: how many refreshes within `window` may be of no help, by default 5 in 60 s: those that fail other
  ///     than for want of a connection, and those whose token is refused. A server that refuses even new tokens must
  ///     not be asked for them without end.
  ///   - window: the span that `maxRefreshes` is for.
  ///   - timeout: how long a refresh may take, waiting for another process that refreshes the same token included.
  ///   - scheduler: what times are taken from.
  ///   - apply: puts the token into a request; by default as `Authorization: Bearer` (RFC 6750 §2.1). A request that
  ///     carries an `Authorization` of its own is left alone.
  ///   - refresh: gets a new token.
  public init(
    for origins: [URL], store: any TokenStore = MemoryTokenStore(), leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5, window: Duration = .seconds(60), timeout: Duration = .seconds(60),
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    apply: @escaping @Sendable (Token, inout Request) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" },
    refresh: @escaping Refresh
  ) {
    self.origins = Set(origins.map(Origin.init))
    self.apply = apply
    tokens = TokenRefresh(
      store, leeway: leeway / .seconds(1), maxRefreshes: maxRefreshes, window: window / .seconds(1), timeout: timeout,
      scheduler: scheduler
    ) { old in
      // Only what is begun in here is the refresh's own.
      Single.create { observer in
        let ended: @Sendable (SingleEvent<Token>) -> Void = { event in
          Self.$isRefreshing.withValue(false) { observer(event) }
        }
        return Self.$isRefreshing.withValue(true) {
          Single.deferred { try refresh(old) }.subscribe(ended)
        }
      }
    }
  }

  /// An interceptor whose `refresh` is an `async` function; parameters as in the form with streams.
  ///
  /// ```swift
  /// AuthenticationInterceptor(for: [url]) { old in
  ///   try await login.fetch(.post("/token", form: ["refresh_token": old?.refresh]), as: Token.self)
  /// }
  /// ```
  /// None of the requests that it sends are intercepted, whenever it sends them.
  public convenience init(
    for origins: [URL], store: any TokenStore = MemoryTokenStore(), leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5, window: Duration = .seconds(60), timeout: Duration = .seconds(60),
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    apply: @escaping @Sendable (Token, inout Request) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" },
    refresh: @escaping @Sendable (Token?) async throws -> Token
  ) {
    self.init(
      for: origins, store: store, leeway: leeway, maxRefreshes: maxRefreshes, window: window, timeout: timeout,
      scheduler: scheduler, apply: apply
    ) { old in
      Single.from { try await Self.$isRefreshing.withValue(true) { try await refresh(old) } }
    }
  }

  /// The token in force; `nil` when nobody is signed in.
  public var token: Token? { try? tokens.current().token }

  /// Replaces the token, after a sign-in, or with `nil` after a sign-out; a refresh under way is then of no account.
  ///
  /// Requests that have gone out with the former token are not repeated with this one, as it may be another user's: their
  /// 401 is their answer. Where it is a new token of the same user, say so, and they are repeated with it.
  ///
  /// - Parameters:
  ///   - token: what is in force from now on.
  ///   - isSameUser: whether the user is still the same.
  /// - Throws: what the store throws; the token is in force nevertheless.
  public func setToken(_ token: Token?, isSameUser: Bool = false) throws {
    try tokens.replace(with: token, isSameUser: isSameUser)
  }

  /// The token in force, where `request` gets it.
  public func account(of request: Request) -> String? { covers(request) ? token?.access : nil }

  /// Sends `request` with the token, and once more with a new one if the answer is 401.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    guard covers(request) else { return next(request) }
    return Observable.deferred { [self] in
      let held = try tokens.current()
      let now = tokens.scheduler.now
      guard let renewal = held.renewal, renewal <= now else { return sent(request, with: held, next) }
      let fresh = replacement(of: held, request, nil)
      // As long as the old one is good, a refresh that fails is no reason to fail.
      let isGood = held.token?.expiry.map { $0 > now } ?? false
      return (isGood ? fresh.catchErrorJustReturn(held) : fresh)
        .flatMap { [self] in sent(request, with: $0 ?? held, next) }
    }
  }

  /// Whether `request` is one that gets the token.
  func covers(_ request: Request) -> Bool {
    !request.context[IsPartOfRefresh.self] && isFor(request.url) && request.headers.values(of: "Authorization").isEmpty
  }

  /// Whether `url` is of one of the origins.
  private func isFor(_ url: URL) -> Bool { origins.contains(Origin(url)) }

  private func sent(_ request: Request, with held: TokenRefresh.Held, _ next: Chain) -> Observable<Response> {
    next(carrying(held.token, request)).flatMap { [self] response -> Observable<Response> in
      // Another origin, behind a redirect, has never had the token.
      guard response.status == 401, request.body.isRepeatable, isFor(response.url) else {
        return .just(response)
      }
      return replacement(of: held, request, response).flatMap { [self] fresh -> Observable<Response> in
        guard let fresh else { return .just(response) }
        return next(carrying(fresh.token, request)).do(onNext: { [self] again in
          if again.status == 401, isFor(again.url) { tokens.noteRefusal(of: fresh) }
        })
      }
    }
  }

  private func replacement(
    of held: TokenRefresh.Held, _ request: Request, _ response: Response?
  ) -> Observable<TokenRefresh.Held?> {
    tokens.replacement(of: held).asObservable().mapError { error in
      var known = NetworkError.wrapping(error)
      known.request = request
      known.response = known.response ?? response
      return known
    }
  }

  private func carrying(_ token: Token?, _ request: Request) -> Request {
    guard let token else { return request }
    var copy = request
    apply(token, &copy)
    let added = HTTPHeaders(copy.headers.filter { request.headers[$0.name] != $0.value })
    copy.context[Authentication.self].append(Authentication(account: token.access, fields: added))
    // So that no redirect takes them to another origin, whatever they are called.
    for field in added { copy.context[OriginBoundFields.self].append(field.name, field.value) }
    return copy
  }
}

/// Whether a request is sent to get a new token, and so can't wait for one.
enum IsPartOfRefresh: ContextKey {
  static let defaultValue = false
}
