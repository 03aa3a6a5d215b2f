import PortableFoundation
import Streams

/// Answers requests from a cache, and keeps the server's answers there (article rows 1.3, 3.7 to 3.11).
///
/// ```swift
/// let cache = Cache(directory: Cache.directory(named: "shop"))
/// let shop = Network(Backend(baseURL: url, interceptors: [CacheInterceptor(cache)]))
/// ```
/// It stands outside of what repeats requests and of what adds credentials. Without more it is a private HTTP cache
/// (RFC 9111): what is kept, for how long and what must be confirmed follows from the header fields. A `CachePolicy` of the
/// call, of the endpoint or of this interceptor says otherwise. `Response.origin` tells where an answer came from.
///
/// Downloads to a file, streamed answers, requests that bring conditions or ranges of their own, and requests with a body
/// go past it. A successful request whose method changes something removes what is kept for its URL: for all users, and also
/// what endpoints keep under a key of their own. A response of status 401, 403, 404 or 410 removes the entry of its request, whatever
/// the policy. ``Cache/removeAll(below:)`` removes what the app knows to be outdated.
///
/// Users are told apart by the token of an ``AuthenticationInterceptor`` further inside and by the header fields that
/// `Redaction` hides.
public struct CacheInterceptor: Interceptor {
  /// Where answers are kept.
  public let cache: Cache
  /// What calls and endpoints that say nothing do.
  public var policy: CachePolicy
  let account: (@Sendable (Request) -> String?)?
  let allowsStorage: @Sendable (Response) -> Bool

  /// An interceptor on `cache`; one for each network, as keys do not name the back end.
  ///
  /// - Parameters:
  ///   - cache: where answers are kept.
  ///   - policy: what calls and endpoints that say nothing do.
  ///   - account: who is signed in, so that nobody sees another's answers; asked on the subscribing thread, and where an
  ///     answer came, which is kept if that is the same. By default the header fields that `Redaction` hides, but for
  ///     signatures, the token of an `AuthenticationInterceptor` and the jar's cookies stand for the account; so does what
  ///     `Redaction` hides in URL and body where an endpoint has a key of its own. A new token, like a cookie that every answer
  ///     replaces, is thus a new account: give `account` for one that outlives them. With any other interceptor behind the
  ///     cache that adds credentials, nothing is kept until `account` is given.
  ///   - allowsStorage: whether to keep an answer that may be kept; by default all but those that are no success by the
  ///     backend's envelope, and those that are no JSON where that was asked for. A word as code with neither message nor
  ///     payload beside it is not taken for an envelope. Called on the `mapping` scheduler.
  public init(
    _ cache: Cache, policy: CachePolicy = .http, account: (@Sendable (Request) -> String?)? = nil,
    allowsStorage: @escaping @Sendable (Response) -> Bool = { $0.isSuccessByEnvelope }
  ) {
    self.cache = cache
    self.policy = policy
    self.account = account
    self.allowsStorage = allowsStorage
  }

  /// The exchanges that the request's policy asks for: one, or two with `cacheThenNetwork`.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    let policy = request.caching.policy ?? policy
    let token = token(of: request, next.interceptors)
    guard let key = key(of: request, policy: policy, token: token) else {
      guard policy != .cacheOnly else { return Self.notCached(request, next) }
      if policy == .http, CacheControl(request.headers).has("only-if-cached") {
        return Self.gatewayTimeout(request).emitted(on: next.mapping)
      }
      return next(request).do(onNext: { invalidate(after: $0, of: request) })
    }
    let visit = CacheVisit(
      interceptor: self, request: request, key: key, token: token, policy: policy, next: next)
    if policy == .networkOnly { return visit.answer(nil) { .just($0) } }
    return .deferred {
      switch cache.find(key, for: request.headers) {
      // The caller's thread may be the main one: from here it goes on to the one for mapping.
      case .now(let found): return visit.answer(found) { $0.emitted(on: next.mapping) }
      case .later(let search):
        return search.observeOn(next.mapping).asObservable().flatMap { visit.answer($0) { .just($0) } }
      }
    }
  }

  /// The failure of what only the cache could answer, off the caller's thread.
  static func notCached(_ request: Request, _ next: Chain) -> Observable<Response> {
    let error = NetworkError(
      kind: .notCached, reason: "nothing is stored for \(request), and its policy does not ask the server",
      request: request)
    return Observable.error(error).observeOn(next.mapping)
  }
}

extension CacheInterceptor {
  /// The answer to a request that wants a stored one where there is none (RFC 9111 §5.2.1.7).
  static func gatewayTimeout(_ request: Request) -> Response {
    var response = Response(request: request, status: 504)
    response.origin = .cache(age: 0, isStale: false)
    return response
  }

  /// What `request` is known by when it carries `token`; `nil` for one that goes past the cache.
  func key(of request: Request, policy: CachePolicy, token: String?) -> String? {
    guard request.destination == nil, !request.isStreamed,
      !request.headers.contains(where: { Self.isCondition($0.name) })
    else {
      return nil
    }
    let caching = request.caching
    var isKnownByBody = false
    if case .none = request.body, request.method == .get || request.method == .head {
      // As RFC 9111 has it.
    } else {
      guard policy != .http, caching.includesBody || caching.key != nil else { return nil }
      isKnownByBody = caching.includesBody
    }
    var key = CacheKey(request, account: account(of: request, token), own: caching.key, hasBody: isKnownByBody)
    if account == nil, caching.key != nil { key?.appendSecrets(of: request) }
    return key?.text
  }

  private func account(of request: Request, _ token: String?) -> String? {
    if let account { return account(request) }
    var credentials = Self.credentials(request)
    if let token { credentials = (credentials ?? "") + "token:\(token.utf8.count):\(token)" }
    // The transport adds them behind all interceptors.
    guard let cookies = request.chosenOptions?.value.cookies?.header(for: request.url) else { return credentials }
    return (credentials ?? "") + "jar:\(cookies.utf8.count):\(cookies)"
  }

  /// Whom the interceptors further inside will authenticate `request` as, where that tells who asks.
  func token(of request: Request, _ inner: ArraySlice<any Interceptor>) -> String? {
    account == nil ? inner.account(of: request) : nil
  }

  /// Whom `sent`, which `request` has become on its way, was authenticated as; `isKnown` is `false` where it carries
  /// credentials of which nothing is known.
  func account(of sent: Request, for request: Request) -> (isKnown: Bool, token: String?) {
    guard account == nil else { return (true, nil) }
    let authentications = sent.context[Authentication.self]
    var expected = request
    for field in authentications.flatMap(\.fields) { expected.headers[field.name] = field.value }
    if Self.credentials(sent) == Self.credentials(expected) {
      return (true, Authentication.joined(authentications.map(\.account)))
    }
    cache.tell("an interceptor behind the cache adds credentials, so nothing is kept; give CacheInterceptor an account")
    return (false, nil)
  }

  /// Whether the account stands for the field called `name`.
  func isOfAccount(_ name: String) -> Bool { account != nil && Redaction.identities.hides(name) }

  private static func credentials(_ request: Request) -> String? {
    var found: String?
    for field in request.headers where request.identifies(field.name) {
      found = (found ?? "") + "\(field.name.lowercased()):\(field.value.utf8.count):\(field.value)"
    }
    return found
  }

  /// Whether the field asks for something that only the server or whoever set it can judge.
  private static func isCondition(_ name: String) -> Bool {
    conditions.contains { HTTPHeaders.same($0, name) }
  }

  private static let conditions = [
    "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
  ]

  /// Removes what a request that changes something has made invalid, whoever may use it (RFC 9111 §4.4).
  private func invalidate(after response: Response, of request: Request) {
    guard !request.method.isSafe, (200...399).contains(response.status) else { return }
    let named = ["Location", "Content-Location"].compactMap { response.headers[$0] }
      .compactMap { URL(string: $0, relativeTo: response.url)?.absoluteURL }
    for url in [request.url] + named where Origin(url) == Origin(request.url) { cache.removeAll(of: url) }
  }
}

extension Response {
  /// One hop for one element, cheaper than `observeOn`, which makes a queue.
  fileprivate func emitted(on scheduler: any ImmediateSchedulerType) -> Observable<Response> {
    Observable(push: { subscription, next in
      subscription.own(
        scheduler.schedule {
          guard !subscription.isStopped else { return }
          subscription.deliver(self, to: next)
          subscription.complete()
        })
    })
  }
}

extension Response {
  /// Whether this is worth keeping: no refusal in an envelope, and JSON where that was asked for.
  ///
  /// The default of `CacheInterceptor.allowsStorage`, for rules that add to it.
  public var isSuccessByEnvelope: Bool {
    let wantsJSON = request.headers["Accept"]?.contains("json") == true
    guard let json = try? JSON(body) else { return !wantsJSON || body.isEmpty }
    return !reading.envelope.value.refuses(json)
  }
}
