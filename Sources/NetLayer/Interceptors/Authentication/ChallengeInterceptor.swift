import PortableFoundation
import Streams

/// An interceptor that responds to the `WWW-Authenticate` challenge of a server with a user name and a password.
///
/// It supports Digest (RFC 7616) with SHA-256 and MD5, and Basic (RFC 7617). Digest takes precedence, and does not reveal
/// the password. Basic does, so it is used only over `https`, unless `allowsBasicWithoutTLS` is `true`: otherwise, an
/// attacker in the network could ask for it.
///
/// The first request is sent without credentials, and again after the challenge. A request whose body can't be sent
/// again, and one that the server rejects again, ends with its 401 response. A request with an `Authorization` field is
/// not changed. A redirect within the origin is followed with credentials for its own path and method.
///
/// Place it where an ``AuthenticationInterceptor`` would be.
public final class ChallengeInterceptor: Interceptor, RecordsCredentials {
  private let origins: Set<Origin>
  private let user: String
  private let password: String
  private let allowsBasicWithoutTLS: Bool
  private let cnonce: @Sendable () -> String
  /// Guards the credentials for each origin, which requests on any thread share.
  private let sessions = Locked<[Origin: Session]>([:])

  private enum Session {
    case digest(DigestCredentials)
    case basic
  }

  /// Creates an interceptor for the origins (scheme, host and port) of `urls`. It sends credentials to no other origin.
  public convenience init(for urls: [URL], user: String, password: String, allowsBasicWithoutTLS: Bool = false) {
    self.init(for: urls, user: user, password: password, allowsBasicWithoutTLS: allowsBasicWithoutTLS) {
      String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }
  }

  init(
    for urls: [URL], user: String, password: String, allowsBasicWithoutTLS: Bool,
    cnonce: @escaping @Sendable () -> String
  ) {
    origins = Set(urls.map(Origin.init))
    (self.user, self.password, self.cnonce) = (user, password, cnonce)
    self.allowsBasicWithoutTLS = allowsBasicWithoutTLS
  }

  func authenticates(_ request: Request) -> Bool { sessions.withLock { $0[Origin(request.url)] != nil } }

  /// The user of the credentials.
  public var accountState: AccountState { .user(user) }
  /// `nil`, because the user never changes.
  public var accountChanges: Observable<Void>? { nil }

  /// Sends `request`, with credentials if the server has asked for them before, and again after a new challenge.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard covers(request) else { return next(request) }
    return Observable.deferred { [self] in
      let first = authorized(request)
      return next(first.request).flatMap { [self] response -> Observable<Response> in
        note(response)
        // After a redirect by another origin, the response is that of a request without credentials.
        guard response.status == 401, request.body.isRepeatable, response.concernsUser(of: request) else {
          return .just(response)
        }
        guard try adopt(response, after: first.nonce) else {
          // The server may ask for something else, so the next request waits for its challenge.
          sessions.withLock { $0[Origin(request.url)] = nil }
          return .just(response)
        }
        return next(authorized(request).request).do(onNext: { [self] again in
          note(again)
          // Guessing again with the next request could lock the account.
          if again.status == 401 { sessions.withLock { $0[Origin(request.url)] = nil } }
        })
      }
    }
  }

  /// Returns whether `request` carries credentials if its server asks for them.
  public func covers(_ request: Request) -> Bool {
    isFor(request.url) && !request.isForeign && request.headers.values(of: "Authorization").isEmpty
  }

  private func isFor(_ url: URL) -> Bool { origins.contains { $0.contains(url) } }

  /// Returns `request` with the credentials that its server asks for, and the nonce in them, which is `basic` for Basic and
  /// `nil` if the server has not asked yet.
  private func authorized(_ request: Request) -> (request: Request, nonce: String?) {
    let origin = Origin(request.url)
    let (cnonce, target) = (cnonce(), request.url.requestTarget)
    let found = sessions.withLock { sessions -> (field: String, nonce: String)? in
      switch sessions[origin] {
      case nil: return nil
      case .basic: return (HTTPHeaders.basic(user: user, password: password)["Authorization"] ?? "", "basic")
      case .digest(var digest):
        let field = digest.authorization(
          user: user, password: password, method: request.method.rawValue, target: target, cnonce: cnonce)
        sessions[origin] = .digest(digest)
        return (field, digest.nonce)
      }
    }
    guard let (field, nonce) = found else { return (request, nil) }
    var copy = request
    copy.headers["Authorization"] = field
    copy.credentials.append(Request.Credentials(account: user, headers: ["Authorization": field]))
    // Basic is the same for each request, and the transport keeps it within the origin.
    guard nonce != "basic" else { return (copy, nonce) }
    copy.context[RedirectCredentials.self].append { [self] next, redirect in
      note(redirect)
      var next = next
      next.headers["Authorization"] = nil
      next.credentials.removeLast { $0.account == user && $0.headers.contains { $0.name == "Authorization" } }
      return .just(authorized(next).request)
    }
    return (copy, nonce)
  }

  /// Stores the challenge of a rejected request; returns `false` if sending it again would be rejected, too.
  ///
  /// - Parameter nonce: The nonce with which the request was sent.
  /// - Throws: `NetworkError` of kind `authentication` for a server that requires Basic without TLS, or an unsupported kind
  ///   of Digest.
  private func adopt(_ response: Response, after nonce: String?) throws -> Bool {
    let challenges = Challenge.all(in: response.headers)
    let origin = Origin(response.request.url)
    if let digest = DigestCredentials.best(of: challenges) {
      // Another request may have met this challenge meanwhile. A server that does not call the nonce stale has rejected the
      // password, unless the nonce is an older one.
      guard nonce == nil || digest.isStale || digest.nonce != nonce && nonce != "basic" else { return false }
      sessions.withLock { $0[origin] = .digest(digest) }
      return true
    }
    guard challenges.contains(where: { $0.scheme == "basic" }) else {
      guard let unknown = challenges.first(where: { $0.scheme == "digest" }) else { return false }
      guard DigestCredentials.isRepeatable(unknown) else {
        throw Self.failure(
          of: response,
          "Digest with a realm, nonce or opaque that has a control character or more than 1,024 bytes, and "
            + "can't be sent back; check the server")
      }
      let (algorithm, protection) = (unknown.parameters["algorithm"] ?? "MD5", unknown.parameters["qop"] ?? "none")
      throw Self.failure(
        of: response,
        "Digest with the algorithm \(algorithm.debugDescription) and the protection "
          + "\(protection.debugDescription); ChallengeInterceptor supports MD5, SHA-256 and auth")
    }
    guard nonce == nil else { return false }
    guard !user.contains(":") else {
      throw Self.failure(
        of: response,
        "Basic, whose user names have no colon (RFC 7617 section 2): the server would read "
          + "\(user.debugDescription) as a shorter name and another password; use a name without a colon")
    }
    guard allowsBasicWithoutTLS || response.url.scheme?.lowercased() == "https" else {
      throw Self.failure(
        of: response,
        "the password without TLS (Basic over http), which others could read; use https, or set "
          + "allowsBasicWithoutTLS of the ChallengeInterceptor")
    }
    sessions.withLock { $0[origin] = .basic }
    return true
  }

  private static func failure(of response: Response, _ demand: String) -> NetworkError {
    NetworkError(
      kind: .authentication, reason: "\(response.url.hostAndPort) asks for \(demand)", request: response.request,
      response: response)
  }

  /// Uses the nonce that the server has announced for the next request.
  private func note(_ response: Response) {
    guard let info = response.headers["Authentication-Info"],
      let next = Challenge.parameters(of: info)["nextnonce"], !next.isEmpty, RequestCheck.isSendable(next)
    else { return }
    let origin = Origin(response.request.url)
    guard response.concernsUser(of: response.request) else { return }
    sessions.withLock { sessions in
      guard case .digest(var digest)? = sessions[origin] else { return }
      digest.renew(next)
      sessions[origin] = .digest(digest)
    }
  }
}

extension URL {
  /// The path and the query, as in the request line (RFC 9112 §3.2.1).
  fileprivate var requestTarget: String {
    let path = path(percentEncoded: true)
    return (path.isEmpty ? "/" : path) + (query(percentEncoded: true).map { "?" + $0 } ?? "")
  }
}
