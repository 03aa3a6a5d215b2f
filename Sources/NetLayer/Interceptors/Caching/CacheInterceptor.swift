import PortableFoundation
import Streams

/// An interceptor that returns cached responses and stores the server's responses in the cache.
///
/// Place it before interceptors that retry and before those that add credentials. By default, it is a private HTTP
/// cache (RFC 9111). A `CachePolicy` of the call, the endpoint or this interceptor overrides that.
///
/// Downloads to a file, streamed responses, conditional requests, range requests, requests with a body, and requests whose
/// URL another origin has chosen, such as a link, bypass the cache. A successful request with an unsafe method removes
/// the entries of its URL for all users. A response of status 401, 403, 404 or 410 removes the entry of its request.
///
/// Users are distinguished by the token of an ``AuthenticationInterceptor`` after the cache, by the header fields that
/// `Redaction` hides, and by the transport. Responses of a transport that replaced the network's (``Network/with(_:)``)
/// are only kept in memory, unless the transport has an ``/HTTPTransport/Transport/account``.
public struct CacheInterceptor: SendingInterceptor {
  /// The cache.
  public let cache: ResponseCache
  /// The policy of calls and endpoints without their own.
  public var policy: CachePolicy
  let account: (@Sendable (Request) -> String?)?
  let allowsStorage: @Sendable (Response) -> Bool

  /// Creates an interceptor on `cache`. Use one cache per network, because keys don't contain the backend.
  ///
  /// The account of a request decides which responses it can use. By default, it consists of:
  ///
  /// - the header fields that `Redaction` hides, except signatures
  /// - the token of an `AuthenticationInterceptor`
  /// - the cookies of the jar
  /// - for endpoints with a custom key, the values that `Redaction` hides in URL and body
  ///
  /// A new token is thus a new account, and so is a cookie that changes with every response. If another interceptor
  /// after the cache adds credentials, nothing is stored unless you pass `account`.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - policy: The policy of calls and endpoints without their own.
  ///   - account: A closure that returns the signed-in user. It is called on the subscribing thread, and again on the
  ///     thread where the response arrives. The response is stored only if both results are equal.
  ///   - allowsStorage: A closure that decides whether to store a storable response: by default
  ///     ``HTTPTransport/Response/isStorable``. It is called on the `mapping` scheduler.
  public init(
    _ cache: ResponseCache, policy: CachePolicy = .http, account: (@Sendable (Request) -> String?)? = nil,
    allowsStorage: @escaping @Sendable (Response) -> Bool = { $0.isStorable }
  ) {
    self.cache = cache
    self.policy = policy
    self.account = account
    self.allowsStorage = allowsStorage
  }

  /// Emits the responses that the request's policy requires: one, or two with `cacheThenNetwork`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    cache.follow(next.clock)
    let policy = request.caching.policy ?? policy
    let token = account == nil ? next.laterAccount(of: request) : nil
    guard let key = key(of: request, policy: policy, token: token, transport: next.network.sharingIdentity(of: request))
    else {
      guard policy != .cacheOnly else { return Self.notCached(request, next) }
      if policy == .http, CacheControl(request.headers).has("only-if-cached") {
        return Observable(CachedDelivery(Self.gatewayTimeout(request), next))
      }
      return next(request).do(onNext: { invalidate(after: $0, of: request) })
    }
    return Observable(
      CacheTransaction(interceptor: self, request: request, key: key, token: token, policy: policy, next: next))
  }

  /// Emits the error of a `cacheOnly` miss, off the caller's thread.
  static func notCached(_ request: Request, _ next: InterceptorChain) -> Observable<Response> {
    let error = NetworkError(
      kind: .notCached, reason: "the cache has no response for \(request), and the cache policy allows no request",
      request: request)
    return Observable.error(error).observeOn(next.mapping)
  }
}

extension CacheInterceptor {
  /// Returns the response to an `only-if-cached` request without a stored response (RFC 9111 §5.2.1.7).
  static func gatewayTimeout(_ request: Request) -> Response {
    var response = Response(request: request, status: 504)
    response.source = .cache(age: .zero, isStale: false)
    return response
  }

  /// Returns the key of `request` when it carries `token`, or `nil` for a request that bypasses the cache.
  func key(of request: Request, policy: CachePolicy, token: String?, transport: TransportIdentity) -> String? {
    // Another origin must neither read nor choose what is stored for a user.
    guard request.destination == nil, !request.isStreamed, !request.isForeign,
      !request.headers.contains(where: { field in Self.conditions.contains { HTTPHeaders.same($0, field.name) } })
    else { return nil }
    let caching = request.caching
    var isKnownByBody = false
    if case .none = request.body, request.method == .get || request.method == .head {
      // As RFC 9111 requires.
    } else {
      guard policy != .http, caching.includesBody || caching.key != nil else { return nil }
      isKnownByBody = caching.includesBody
    }
    var key = CacheKey(
      request, account: account(of: request, token), transport: transport, own: caching.key, hasBody: isKnownByBody)
    if account == nil, caching.key != nil { key?.appendSecrets(of: request) }
    return key?.text
  }

  private func account(of request: Request, _ token: String?) -> String? {
    if let account { return account(request) }
    // An interceptor before the cache may have added the token already.
    let known = request.credentials
    var credentials = Self.credentials(request, without: known)
    let token = known.isEmpty ? token : Request.Credentials.joined(known.map(\.account) + (token.map { [$0] } ?? []))
    if let token { credentials = (credentials ?? "") + "token:\(token.utf8.count):\(token)" }
    // The transport adds cookies after all interceptors.
    guard let cookies = request.chosenOptions?.value.cookies?.header(for: request.url) else { return credentials }
    return (credentials ?? "") + "jar:\(cookies.utf8.count):\(cookies)"
  }

  /// Returns the account with which `sent`, the final form of `request`, was authenticated. `isKnown` is `false` if it
  /// carries unknown credentials.
  func account(of sent: Request, for request: Request) -> (isKnown: Bool, token: String?) {
    guard account == nil else { return (true, nil) }
    // Those of the request are part of its key.
    let added = sent.credentials.dropFirst(request.credentials.count)
    var expected = request
    for field in added.flatMap(\.headers) { expected.headers[field.name] = field.value }
    if Self.credentials(sent) == Self.credentials(expected) {
      return (true, Request.Credentials.joined(added.map(\.account)))
    }
    return (false, nil)
  }

  /// Returns whether the account covers the field called `name` of the request `sent`, so that responses for two values
  /// have different keys.
  func isOfAccount(_ name: String, in sent: Request) -> Bool {
    if account != nil, ["authorization", "cookie"].contains(name) { return true }
    return sent.credentials.contains { $0.headers[name] != nil && $0.headers[name] == sent.headers[name] }
  }

  private static func credentials(_ request: Request, without known: [Request.Credentials] = []) -> String? {
    var found: String?
    for field in request.headers where request.identifies(field.name) {
      if !known.isEmpty, known.contains(where: { $0.headers[field.name] == field.value }) { continue }
      found = (found ?? "") + "\(field.name.lowercased()):\(field.value.utf8.count):\(field.value)"
    }
    return found
  }

  /// The fields that are conditions that only the server or the caller can evaluate.
  private static let conditions = [
    "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
  ]

  /// Removes the entries that an unsafe request has invalidated, for all users (RFC 9111 §4.4).
  private func invalidate(after response: Response, of request: Request) {
    guard !request.method.isSafe, (200...399).contains(response.status) else { return }
    let named = ["Location", "Content-Location"].compactMap { response.headers[$0] }
      .compactMap { URL(reference: $0, from: response.url) }
    let own = Origin(request.url)
    for url in [request.url] + named where own.contains(url) { cache.removeAll(of: url) }
  }
}

extension Response {
  /// Whether the response is worth storing: its envelope reports no failure, and it is JSON if the request accepts
  /// JSON.
  public var isStorable: Bool {
    let wantsJSON = request.headers["Accept"]?.contains("json") == true
    guard let json = try? JSON(parsing: body) else { return !wantsJSON || body.isEmpty }
    return !reading.envelope.value.refuses(json)
  }
}
